create table toy_counts (
  account text collate "C" primary key references accounts (id),
  count bigint not null,
  charged_at timestamptz not null
);
create table toy_totals (
  at timestamptz primary key,
  count numeric not null
);
