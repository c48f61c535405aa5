-- When a piece of the log last waited for its turn of the store: a job that needs the log goes on waiting.
alter table databases add column log_waited_at timestamptz;
