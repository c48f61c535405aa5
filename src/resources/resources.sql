-- The state machine of resources. These functions are the only writers of the table.

-- Adds a resource; null when the account has one of that kind and name. Raises EG020 where it has `most` of that kind, with the
-- names of those that never started as the detail.
create or replace function add_resource(of_kind text, of_account text, of_name text, in_region text, most int)
returns text language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  made text;
  unstarted text;
begin
  -- Not the account's row: a tick has locked log_head when it comes to that row, and a budget in this transaction would
  -- wait for log_head.
  perform pg_advisory_xact_lock(4207714, hashtext(of_account));
  if (select count(*) from resources
      where account = of_account and kind = of_kind and desired <> 'deleted') >= most then
    select coalesce(string_agg(name, ' ' order by name), '') into unstarted from resources
      where account = of_account and kind = of_kind and actual = 'failed' and desired <> 'deleted';
    raise exception 'there are % already', most using errcode = 'EG020', detail = unstarted;
  end if;
  insert into resources (id, kind, account, name, region, created_at, changed_at)
  values (new_id(case of_kind when 'database' then 'db' when 'function' then 'fn' when 'workload' then 'wl' else of_kind end,
    now_at), of_kind, of_account, of_name, in_region, now_at, now_at)
  on conflict (account, kind, name) where desired <> 'deleted' do nothing
  returning id into made;
  if made is not null then perform pg_notify('ergon_resources', of_kind); end if;
  return made;
end $$;

-- Sets what the account wants of a resource, or repeats it after a change of the product's own table; the reason of an
-- earlier change is gone. False for a resource that is deleted.
create or replace function want_resource(of_id text, wanted text) returns boolean language plpgsql as $$
declare
  of_kind text;
begin
  update resources set desired = want_resource.wanted, revision = revision + 1, reason = null,
    failed_tries = 0, changed_at = ledger_now()
  where id = of_id and desired <> 'deleted' returning kind into of_kind;
  if of_kind is not null then perform pg_notify('ergon_resources', of_kind); end if;
  return of_kind is not null;
end $$;

-- Sets the hosts of a resource beside its own address, which its kind routes by the function route_<kind>. Raises EG023 or
-- unique_violation for a host that another resource has.
create or replace function host_resource(of_id text, of_hosts text[]) returns void language plpgsql as $$
declare
  of_kind text;
begin
  -- First the account: who wants to know all resources with a host takes that lock, and then reads.
  perform pg_advisory_xact_lock(4207714, hashtext(account)) from resources where id = of_id;
  update resources set hosts = of_hosts where id = of_id and desired <> 'deleted' and hosts <> of_hosts
    returning kind into of_kind;
  if of_kind is not null then execute format('select %I($1)', 'route_' || of_kind) using of_id; end if;
end $$;

-- Records the state that a resource has reached; raises for a transition that the state machine lacks. A failed change of
-- a deployed resource keeps its state and notes the reason. Only a resource that was never made becomes `failed`.
create or replace function move_resource(of_id text, reached text, why text default null,
  of_revision bigint default null) returns boolean
language plpgsql as $$
declare
  was text;
begin
  select actual into was from resources where id = of_id for update;
  if (was, reached) not in (
    ('pending', 'deploying'), ('pending', 'failed'), ('pending', 'suspended'), ('pending', 'deleted'),
    ('deploying', 'deploying'), ('deploying', 'deployed'), ('deploying', 'failed'), ('deploying', 'suspended'),
    ('deploying', 'deleted'),
    ('failed', 'deploying'), ('failed', 'failed'), ('failed', 'suspended'), ('failed', 'deleted'),
    ('deployed', 'deployed'), ('deployed', 'crash_loop'), ('deployed', 'failed'), ('deployed', 'suspended'),
    ('deployed', 'deleted'),
    ('crash_loop', 'crash_loop'), ('crash_loop', 'deployed'), ('crash_loop', 'failed'), ('crash_loop', 'suspended'),
    ('crash_loop', 'deleted'),
    ('suspended', 'suspended'), ('suspended', 'deployed'), ('suspended', 'failed'), ('suspended', 'deleted')) then
    raise exception 'the resource % cannot move from % to %', of_id, was, reached using errcode = 'EG025';
  end if;
  update resources set reason = why, changed_at = ledger_now(),
    -- A host may be a domain of the owner: it does not outlive the resource.
    hosts = case when reached = 'deleted' then '{}' else hosts end,
    actual = case when reached = 'failed' and was in ('deployed', 'crash_loop', 'suspended') then was else reached end,
    reached_revision = coalesce(of_revision, reached_revision),
    failed_tries = case when of_revision is not null then 0
      -- Work that cannot be paid before a resource was made has failed, too, and leaves it as it is.
      when reached = 'failed' or (was, reached) = ('deploying', 'deploying') then least(failed_tries + 1, 1000)
      else failed_tries end
  where id = of_id;
  if not found then return false; end if;
  -- Its cells are gone. Until now its budget limited them.
  if reached = 'deleted' then perform set_budget(of_id, null, null); end if;
  return true;
end $$;

-- The budgets that an account sees. One of a resource that is being deleted limits that to its end, and is in no list, as
-- the resource is.
create or replace function shown_budgets(of_account text) returns setof budgets language sql stable as $$
  select b.* from budgets b where b.account = of_account
    and not exists (select from resources r where r.id = b.id and r.desired = 'deleted')
$$;

-- Holds the resources of an account suspended, for a reason: it is being deleted, the operator suspended it, or it
-- cannot pay. Each of these outlasts the next. Returns how many.
create or replace function hold_resources(of_account text, why text) returns bigint language sql as $$
  with held as (
    update resources set held = why, revision = revision + 1, failed_tries = 0, changed_at = ledger_now()
    where account = of_account and desired <> 'deleted' and held is distinct from why
      and (held is null or why = 'deleting' or (why = 'suspended' and held = 'balance'))
    returning kind
  ), told as (select pg_notify('ergon_resources', kind) from held group by kind)
  select (select count(*) from held) from (select count(*) from told) t
$$;

-- Ends such a hold: what the account wants is brought about again, but not while the operator suspends the account.
create or replace function release_resources(of_account text, why text) returns bigint language sql as $$
  with released as (
    update resources set revision = revision + 1, failed_tries = 0, changed_at = ledger_now(),
      held = case when why <> 'suspended' then (select 'suspended' from account_suspensions where account = of_account) end
    where account = of_account and desired <> 'deleted' and held = why
    returning kind
  ), told as (select pg_notify('ergon_resources', kind) from released group by kind)
  select (select count(*) from released) from (select count(*) from told) t
$$;

-- Holds what the accounts run that have had nothing but reserves for a while, and lets go what can be paid again.
create or replace function hold_unpaid(grace interval) returns void language sql as $$
  select hold_resources(id, 'balance') from accounts a
    where depleted_at < ledger_now() - grace
      and exists (select from resources where account = a.id and desired <> 'deleted' and held is null);
  select release_resources(a.id, 'balance') from accounts a
    where depleted_at is null
      and exists (select from resources where account = a.id and desired <> 'deleted' and held = 'balance');
$$;

-- Removes the resources of a kind of an account that is being deleted, each by the function delete_<kind>; returns what that
-- waits for. Their names may be personal.
create or replace function leave_resources(of_account text, of_kind text) returns text language plpgsql as $$
declare
  of_id text;
begin
  for of_id in select id from resources where account = of_account and kind = of_kind and desired <> 'deleted' order by id loop
    execute format('select %I($1)', 'delete_' || of_kind) using of_id;
  end loop;
  if exists (select from resources where account = of_account and kind = of_kind and actual <> 'deleted') then
    return of_kind || 's are being removed';
  end if;
  update resources set name = id where account = of_account and kind = of_kind and name <> id;
  return null;
end $$;

-- Records that a resource wakes, and forgets its intervals that are older than `kept_days` or beyond its newest
-- `kept_rows`. Returns the number of the interval.
create or replace function begin_interval(of_resource text, by_cause text, by_role text, kept_days int, kept_rows int)
returns bigint language plpgsql as $$
declare
  made bigint;
begin
  insert into resource_intervals (resource, from_at, woken_by, role)
  values (of_resource, ledger_now(), by_cause, by_role) returning id into made;
  delete from resource_intervals where resource = of_resource
    and (to_at < ledger_now() - make_interval(days => kept_days) or id < (
      select id from resource_intervals where resource = of_resource order by id desc offset kept_rows - 1 limit 1));
  return made;
end $$;

drop function if exists end_intervals(text, text);
-- Ends the intervals that a stop of the node left open: they lasted until the last charge of what ran. `left_ms` has the ends
-- of charges that are still to come, by the resource.
create or replace function end_intervals(of_kind text, by_cause text, left_ms jsonb) returns void language sql as $$
  update resource_intervals i set slept_by = by_cause, to_at = greatest(i.from_at,
    to_timestamp((left_ms ->> i.resource)::numeric / 1000), (
    select max(c.to_at) from charges c
    where c.resource = i.resource and c.operation in ('cell.standing', 'function.standing', 'workload.standing') and c.to_at > i.from_at))
  from resources r where r.id = i.resource and r.kind = of_kind and i.to_at is null
$$;

-- Holds a resource suspended because its energy budget is used up.
create or replace function hold_by_budget(of_id text) returns void language sql as $$
  with held as (
    update resources set held = 'budget', revision = revision + 1, failed_tries = 0, changed_at = ledger_now()
    where id = of_id and desired = 'deployed' and held is null returning kind
  ) select pg_notify('ergon_resources', kind) from held
$$;

-- Lets go the resources of a kind whose budgets have `least_nj` left again: on the next day, or after a raise.
create or replace function release_by_budget(of_kind text, least_nj numeric) returns void language sql as $$
  with released as (
    update resources n set revision = revision + 1, failed_tries = 0, changed_at = ledger_now(),
      held = (select 'suspended' from account_suspensions s where s.account = n.account)
    where kind = of_kind and held = 'budget' and not is_budget_below(n.id, least_nj)
    returning kind
  ) select pg_notify('ergon_resources', of_kind) from released limit 1
$$;

-- Adds lines to the logs of resources that are not deleted, and keeps the newest of each.
create or replace function log_resources(lines jsonb, most int) returns void language sql as $$
  insert into resource_logs (resource, at, source, level, text)
    select l ->> 'resource', (l ->> 'at')::timestamptz, l ->> 'source', l ->> 'level', l ->> 'text'
    from jsonb_array_elements(lines) with ordinality as t (l, nth)
    join resources n on n.id = l ->> 'resource' where n.desired <> 'deleted' order by nth;
  delete from resource_logs l using (
    select f.id, (select seq from resource_logs where resource = f.id order by seq desc offset most limit 1) as last
    from (select distinct resource as id from jsonb_to_recordset(lines) as l (resource text)) f
  ) old where l.resource = old.id and l.seq <= old.last;
$$;
