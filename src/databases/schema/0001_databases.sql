-- Databases of accounts: a cluster each. Their names and states are rows of `resources`.
create table databases (
  id text collate "C" primary key references resources (id),
  size_bytes bigint not null check (size_bytes > 0),
  -- As last measured: tables with indexes, and the write-ahead log.
  stored_bytes bigint not null default 0,
  wal_bytes bigint not null default 0,
  -- Its transactions are read-only by default.
  is_full boolean not null default false
);

-- Logins at the proxy, which checks the passwords. The server of a database never sees one.
create table database_roles (
  name text collate "C" primary key,
  database text collate "C" not null references databases (id),
  -- The account's name of it; 'owner' is the first.
  label text collate "C" not null default 'owner',
  is_read_only boolean not null default false,
  -- The password is derived from the secret of the node, the name and this number; a rotation adds one.
  revision integer not null default 1,
  -- SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>, as PostgreSQL writes verifiers.
  verifier text not null
);
create unique index database_roles_by_label on database_roles (database, label);
