-- A backup or a restore that failed through a fault of the service waits for its next try.
alter table database_backups
  -- Tries that failed so.
  add column tries integer not null default 0,
  add column due_at timestamptz;
alter table database_restores
  add column tries integer not null default 0,
  add column due_at timestamptz;
