-- The versions in a database, as last seen while its server ran: of PostgreSQL, of the pgvector that the machine has
-- (null where it has none), and of its extensions, as [{"name", "version"}].
alter table databases
  add column postgres_version text,
  add column vector_version text,
  add column extensions jsonb not null default '[]',
  -- The account asked for the newest versions of its extensions.
  add column wants_upgrade boolean not null default false;
