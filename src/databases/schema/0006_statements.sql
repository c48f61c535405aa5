-- Statements of a database by the time that they took, as last read.
create table database_statements (
  database text collate "C" primary key references databases (id),
  since timestamptz not null,
  sampled_at timestamptz not null,
  other_ms double precision not null,
  statements jsonb not null
);
