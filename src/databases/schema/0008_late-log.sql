-- The age of log that waits to be stored.
alter table databases
  -- Everything is stored that the server had written by then; all of it where `is_archived`.
  add column log_stored_at timestamptz not null default clock_timestamp(),
  -- An alarm says that the log waits.
  add column is_log_late boolean not null default false;
