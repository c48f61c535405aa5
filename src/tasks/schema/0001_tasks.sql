-- Background tasks: when each runs next, and how its runs went. A run is a job of graphile-worker.
create table tasks (
  name text collate "C" primary key,
  -- Null: the task runs only when a job is added.
  every_ms bigint,
  next_at timestamptz,
  attempts smallint not null,
  -- The last run that ended, well or not.
  ended_at timestamptz,
  runs bigint not null default 0,
  failures bigint not null default 0,
  -- Jobs that failed at their last attempt.
  deaths bigint not null default 0,
  spent_ms bigint not null default 0,
  -- Progress of the run that goes on, or of the last run.
  done bigint,
  total bigint
);
