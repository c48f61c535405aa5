-- Requests that a version takes at once by the form of its handler; `concurrency` is the wish of its owner alone.
alter table function_versions add column default_concurrency integer;

-- It has arguments now.
drop function if exists function_runs_next_ms();
