-- Runs of functions that no caller asks for: new objects of buckets, and times.
alter table function_versions add column buckets text[] not null default '{}', add column schedule text,
  add column concurrency integer, add column deployed_by text;
-- The minute up to which the schedule was looked at; runs that failed in a row, and the rest after them.
alter table functions add column scheduled_to timestamptz, add column failures integer not null default 0,
  add column rest_until timestamptz;

create table function_runs (
  id bigint primary key generated always as identity,
  function text collate "C" not null references functions (id),
  event text not null,
  -- {bucket, key, version_id} or {scheduled_at}
  data jsonb not null,
  -- Null: it failed as often as it is tried.
  next_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null,
  attempted_at timestamptz,
  request text,
  error text
);
create index function_runs_due on function_runs (function, next_at, id) where next_at is not null;
create index function_runs_dead on function_runs (function, id) where next_at is null;

-- Its result has changed, and it has a further argument.
drop function if exists make_function_live(text, int);
