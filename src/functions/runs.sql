-- Runs: what a function is to run for, until it has.

-- Takes new objects over as runs, at most so many; returns how many there were.
create or replace function take_followed(most int) returns bigint language sql as $$
  with news as (
    delete from followed_objects where id in (select id from followed_objects order by id limit most for update skip locked)
    returning *
  ), made as (
    insert into function_runs (function, event, data, next_at, created_at)
    select n.follower, 'bucket.object-created', jsonb_build_object('bucket', n.bucket, 'key', n.key, 'version_id', n.version_id),
      ledger_now(), n.at
    from news n join resources r on r.id = n.follower and r.desired <> 'deleted' order by n.id
  )
  select count(*) from news
$$;

-- The schedules whose minutes up to now were not looked at.
create or replace function schedules_due() returns table (id text, schedule text, looked_to timestamptz, now_minute timestamptz)
language sql stable as $$
  select f.id, v.schedule, f.scheduled_to, date_trunc('minute', ledger_now())
  from functions f join resources r using (id)
    join function_versions v on v.function = f.id and v.version = r.live_version
  where r.wanted = 'deployed' and v.schedule is not null and f.scheduled_to is distinct from date_trunc('minute', ledger_now())
$$;

-- Records that a schedule was looked at up to a minute, and the run of a time in between; once.
create or replace function schedule_function(of_id text, from_minute timestamptz, to_minute timestamptz, due timestamptz)
returns void language plpgsql as $$
begin
  update functions set scheduled_to = to_minute where id = of_id and scheduled_to is not distinct from from_minute;
  if found and due is not null then
    insert into function_runs (function, event, data, next_at, created_at)
    values (of_id, 'schedule', jsonb_build_object('scheduled_at', to_char(due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
      ledger_now(), ledger_now());
  end if;
end $$;

-- A time that was set with the longest delay at most; the clock was set back since where it lies beyond that. Then it is over.
create or replace function delayed_until(at timestamptz, longest interval) returns timestamptz language sql stable as $$
  select case when at <= ledger_now() + longest then at else ledger_now() end
$$;

-- The next runs of functions that may run, when they can begin, and their turn in their account. An account has at most
-- `each_max` of them, with those that are in work, which are known; a function that fails has one. Functions of an account
-- take turns, so no backlog of one holds up another: due runs are in the order of their places in their functions.
create or replace function function_runs_next(each_max int, known bigint[])
returns table (id bigint, function text, begins_at timestamptz, turn bigint) language sql stable as $$
  select * from (
  select w.id, f.id as function, w.begins_at, row_number() over (partition by f.account
    order by w.id = any (known) desc, case when w.begins_at > ledger_now() then w.begins_at end nulls first, w.place,
      w.begins_at, w.id) as turn
  from functions f join resources r using (id)
    join function_versions v on v.function = f.id and v.version = r.live_version
    cross join lateral (
      select d.id, greatest(delayed_until(d.next_at, '2 hours'), case when f.rest_until is not null
        then delayed_until(f.rest_until, '5 minutes') end) as begins_at, row_number() over (order by d.next_at, d.id) as place
      from function_runs d where d.function = f.id and d.next_at is not null
      order by d.next_at, d.id
      limit case when f.failures >= 5 then 1 else least(each_max, coalesce(v.concurrency, v.default_concurrency)) end
    ) w
  where r.wanted = 'deployed'
  ) open where turn <= each_max and open.id <> all (known)
$$;

-- Those of them that are due, each account in turn.
create or replace function function_runs_due(each_max int, most int, known bigint[])
returns table (id bigint, function text, account text, name text, event text, data jsonb, attempts int, route text,
  timeout_s int, deployed_by text) language sql stable as $$
  select w.id, f.id, f.account, r.name, w.event, w.data, w.attempts, v.route, v.timeout_s, v.deployed_by
  from function_runs_next(each_max, known) n join function_runs w on w.id = n.id
    join functions f on f.id = n.function join resources r on r.id = f.id
    join function_versions v on v.function = f.id and v.version = r.live_version
  where n.begins_at <= ledger_now() order by n.turn, w.id limit most
$$;

-- Records attempts: {id, attempts, outcome: done | failed | waits, request, error, delay_ms}. `attempts` is the number
-- before: a failure that is recorded again changes nothing. A run that waits for its function was not tried: the function
-- rests. One that failed without a delay is dead: the newest `dead_max` of a function are kept.
create or replace function settle_function_runs(results jsonb, dead_max int) returns void language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  one record;
  of_function text;
begin
  for one in select * from jsonb_to_recordset(results)
      as r (id bigint, attempts int, outcome text, request text, error text, delay_ms bigint) order by id loop
    if one.outcome = 'done' then
      delete from function_runs where id = one.id returning function into of_function;
      update functions set failures = 0, rest_until = null
        where id = of_function and (failures > 0 or rest_until is not null);
    elsif one.outcome = 'waits' then
      update function_runs set next_at = now_at + one.delay_ms * interval '1 millisecond', error = one.error
        where id = one.id returning function into of_function;
      update functions set rest_until = now_at + one.delay_ms * interval '1 millisecond' where id = of_function;
    else
      update function_runs set attempts = attempts + 1, attempted_at = now_at, request = one.request, error = one.error,
        next_at = now_at + one.delay_ms * interval '1 millisecond'
        where id = one.id and attempts = one.attempts returning function into of_function;
      update functions set failures = failures + 1,
        rest_until = case when failures >= 4 then now_at + least(300, 5 * 2 ^ least(failures - 4, 6)) * interval '1 second' end
        where id = of_function;
      delete from function_runs where function = of_function and next_at is null and id <= (
        select d.id from function_runs d where d.function = of_function and d.next_at is null
        order by d.id desc offset dead_max limit 1);
    end if;
  end loop;
end $$;

-- Makes a dead run due again, or all of a function; returns how many.
create or replace function replay_function_runs(of_id text, of_run bigint) returns int language plpgsql as $$
declare
  due int;
begin
  update function_runs set next_at = ledger_now(), attempts = 0
    where function = of_id and next_at is null and (of_run is null or id = of_run);
  get diagnostics due = row_count;
  update functions set rest_until = null where id = of_id;
  perform pg_notify('ergon_followed', '');
  return due;
end $$;

-- Forgets a dead run, or all of a function; returns how many.
create or replace function discard_function_runs(of_id text, of_run bigint) returns int language sql as $$
  with gone as (
    delete from function_runs where function = of_id and next_at is null and (of_run is null or id = of_run) returning id
  )
  select count(*)::int from gone
$$;

-- Forgets the oldest runs of a function that has more than `most` of them waiting; returns how many, by function.
create or replace function forget_function_runs(most int) returns table (function text, dropped bigint) language sql as $$
  with last as (
    select f.id, (select d.id from function_runs d where d.function = f.id and d.next_at is not null
      order by d.id desc offset most limit 1) as run from functions f
  ), gone as (
    delete from function_runs d using last where d.function = last.id and d.next_at is not null and d.id <= last.run
    returning d.function
  )
  select function, count(*) from gone group by function
$$;

-- Milliseconds until a run that is not in work can begin, or a schedule is to be looked at; null without either.
create or replace function function_runs_next_ms(each_max int, known bigint[]) returns float8 language sql stable as $$
  select extract(epoch from least(
    (select min(begins_at) from function_runs_next(each_max, known)),
    (select date_trunc('minute', ledger_now()) + interval '1 minute' where exists (
      select from functions f join resources r using (id)
        join function_versions v on v.function = f.id and v.version = r.live_version
      where r.wanted = 'deployed' and v.schedule is not null)))
    - ledger_now()) * 1000
$$;
