-- Backups of databases: copies of their files, and the write-ahead log without a gap since the oldest copy. The bytes
-- are blobs, encrypted; rows of `blobs` say where each one is.
create table database_backups (
  id text collate "C" primary key,
  database text collate "C" not null references databases (id),
  -- nightly: kept while a time of the retention needs it; manual: until its owner deletes it.
  kind text not null check (kind in ('nightly', 'manual')),
  status text not null default 'wanted' check (status in ('wanted', 'running', 'done', 'failed')),
  reason text,
  attempts integer not null default 0,
  -- Of the files, as they are read: progress, then the size.
  done_bytes bigint not null default 0,
  total_bytes bigint,
  -- A restore needs the log from the one to the other, at least.
  timeline integer,
  begin_lsn pg_lsn,
  end_lsn pg_lsn,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz
);
create index database_backups_of on database_backups (database, id);
create index database_backups_open on database_backups (id) where status in ('wanted', 'running');

-- The archive of a copy, in pieces.
create table database_parts (
  backup text collate "C" not null references database_backups (id) on delete cascade,
  number integer not null,
  blob uuid not null,
  -- Compressed, before encryption; and the wrapped key.
  size bigint not null,
  key jsonb not null,
  primary key (backup, number)
);

-- The log: bytes `begin_lsn` to before `end_lsn`.
create table database_wal (
  database text collate "C" not null references databases (id),
  begin_lsn pg_lsn not null,
  end_lsn pg_lsn not null,
  timeline integer not null,
  blob uuid not null,
  size bigint not null,
  key jsonb not null,
  stored_at timestamptz not null,
  primary key (database, begin_lsn)
);

-- Databases that are made from backups of another one, which may be deleted.
create table database_restores (
  database text collate "C" primary key references databases (id),
  source text collate "C" not null references databases (id),
  -- The state at the end of this backup, or at this time, or the last one.
  backup text collate "C",
  until timestamptz,
  -- unpacked: the files wait for the server that recovers them.
  status text not null default 'wanted' check (status in ('wanted', 'running', 'unpacked', 'done', 'failed')),
  reason text,
  attempts integer not null default 0,
  done_bytes bigint not null default 0,
  total_bytes bigint,
  -- The recovery must reach this, at least.
  least_lsn pg_lsn
);
create index database_restores_open on database_restores (database) where status in ('wanted', 'running');

alter table databases
  -- False from a start of the server until its last byte of the log is stored.
  add column is_archived boolean not null default true,
  -- Of all backups and the stored log, encrypted.
  add column backup_bytes bigint not null default 0;
