-- The end of a deletion whose log cannot be stored.
alter table databases
  -- Tries to store the last part of the log of a deleted database.
  add column last_log_tries integer not null default 0,
  -- Since when rows may be missing in its backups: the last part of its log went with its files.
  add column log_lost_from timestamptz;
