-- Failures in a row after which an endpoint rests between two attempts, and gets one delivery at a time.
create or replace function webhook_failures_before_rest() returns int language sql immutable parallel safe as $$
  select 10
$$;

-- The next due deliveries of endpoints that may be sent to, of all or of the given ones. A failing endpoint gets one
-- at a time. Only one process asks, so nothing is marked as taken: that process knows its unsettled attempts. At most
-- `each_max` of an endpoint and `most` altogether, those of each account in turn. The known ones are left out, but of
-- a failing endpoint, where another one would be the second at a time.
create or replace function due_webhook_deliveries(of_endpoints text[], each_max int, most int, known bigint[])
returns table (endpoint text, account text, url text, secret text, old_secrets text[], id bigint, event text,
  event_type text, attempts int, body text) language plpgsql stable as $$
declare
  -- Once: an index cannot be searched by a volatile function.
  now_at constant timestamptz := ledger_now();
begin
  return query
  select e.id, e.account, e.url, e.secret, case when e.old_secrets <> '[]' then array(
      select o ->> 'secret' from jsonb_array_elements(e.old_secrets) with ordinality as old (o, nth)
      where (o ->> 'until')::timestamptz > now_at order by nth) else '{}' end,
    d.id, d.event, d.type, d.attempts::int,
    '{"event":' || to_json(d.type) || ',"event_id":"' || d.event || '","occurred_at":"'
      || to_char(d.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","data":' || d.data || '}'
  from (
    -- Only the chosen ones read their events.
    select e.id as of_endpoint, w.*
    from webhook_endpoints e cross join lateral (
      select * from webhook_deliveries w
      where w.endpoint = e.id and w.state = 'pending' and w.next_at <= now_at
        and (e.failures >= webhook_failures_before_rest() or w.id not in (select unnest(known)))
      order by w.next_at, w.id
      limit case when e.failures >= webhook_failures_before_rest() then 1 else each_max end) w
    where e.status = 'active' and (e.rest_until is null or e.rest_until <= now_at)
      and (of_endpoints is null or e.id = any (of_endpoints))
    order by row_number() over (partition by e.account order by w.next_at, w.id), w.id limit most) due
  join webhook_endpoints e on e.id = due.of_endpoint
  left join events v on v.id = due.event
  cross join lateral (select due.id, due.event, due.attempts, due.next_at,
    coalesce(v.type, due.sample ->> 'type') as type, coalesce(v.occurred_at, due.created_at) as occurred_at,
    coalesce(v.data, due.sample -> 'data') as data) d
  order by d.next_at, d.id;
end $$;

-- Milliseconds until the next delivery is due; null without one.
create or replace function next_webhook_delivery_ms() returns float8 language sql stable as $$
  select extract(epoch from min(greatest(d.next_at, e.rest_until)) - ledger_now()) * 1000
  from webhook_endpoints e cross join lateral (
    select next_at from webhook_deliveries w where w.endpoint = e.id and w.state = 'pending'
    order by w.next_at, w.id limit 1) d
  where e.status = 'active'
$$;

-- Deliveries that are due and not sent, at most `most` of them, and the seconds since the oldest was due. Deliveries
-- to endpoints that are paused, disabled or at rest are not due.
create or replace function webhook_backlog(most int) returns table (waiting bigint, age_s float8) language sql stable as $$
  select count(*), coalesce(extract(epoch from ledger_now() - min(next_at)), 0)::float8 from (
    select d.next_at from webhook_endpoints e cross join lateral (
      select next_at from webhook_deliveries w
      where w.endpoint = e.id and w.state = 'pending' and w.next_at <= ledger_now()
      order by w.next_at, w.id limit most) d
    where e.status = 'active' and (e.rest_until is null or e.rest_until <= ledger_now()) limit most) due
$$;

-- Endpoints at which a delivery has been due, and nothing was attempted, for that time; since when the first of them
-- waits. An endpoint whose receiver is slow has attempts.
create or replace function webhooks_unattended(wait interval) returns table (endpoints bigint, since timestamptz)
language sql stable as $$
  select count(*), min(d.next_at) from webhook_endpoints e cross join lateral (
    select next_at from webhook_deliveries w where w.endpoint = e.id and w.state = 'pending'
    order by w.next_at, w.id limit 1) d
  where e.status = 'active'
    and greatest(d.next_at, e.rest_until, e.succeeded_at, e.failed_at) <= ledger_now() - wait
$$;

-- Records attempts, once each: {id, endpoint, attempts, ok, status, error, took_ms, answer, delay_ms, rest_ms}, where
-- `attempts` is the number before this attempt. A failed delivery without a delay is dead. A failing endpoint rests for
-- a minute between two attempts. An endpoint that answers 410, or that has failed for five days, is disabled, with an
-- event.
create or replace function webhook_settle(results jsonb) returns void language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  failures_before_rest constant int := webhook_failures_before_rest();
  recorded bigint[];
  ended record;
begin
  with made as (update webhook_deliveries d set
    state = case when r.ok then 'delivered' when r.delay_ms is null then 'dead' else 'pending' end,
    attempts = d.attempts + 1, since = now_at, next_at = now_at + coalesce(r.delay_ms, 0) * interval '1 millisecond',
    attempted_at = now_at - r.took_ms * interval '1 millisecond', status = r.status, error = r.error,
    took_ms = r.took_ms, answer = r.answer,
    failed = case when r.ok then d.failed
      else d.failed || jsonb_build_object('at', now_at, 'http_status', r.status, 'error', r.error) end
  from jsonb_to_recordset(results) as r (id bigint, attempts int, ok boolean, status int, error text, took_ms int,
    answer text, delay_ms bigint)
  where d.id = r.id and d.state = 'pending' and d.attempts = r.attempts
  returning d.id)
  select array_agg(id) into recorded from made;

  for ended in
    with sums as (
      select endpoint, bool_or(ok) as any_ok, count(*) filter (where not ok)::int as failed,
        coalesce(bool_or(status = 410), false) as is_gone, max(rest_ms) as rest_ms,
        max(error) filter (where not ok) as error
      from jsonb_to_recordset(results) as r (id bigint, endpoint text, ok boolean, status int, error text,
        rest_ms bigint)
      join unnest(recorded) done (id) using (id)
      group by endpoint
    ), counted as (
      update webhook_endpoints e set
        failures = case when any_ok then 0 else failures + failed end,
        failing_since = case when not any_ok then coalesce(failing_since, now_at) end,
        succeeded_at = case when any_ok then now_at else succeeded_at end,
        failed_at = case when failed > 0 then now_at else failed_at end,
        last_error = coalesce(error, last_error),
        -- An answer to an earlier attempt does not end a rest that was asked for.
        rest_until = greatest(e.rest_until, now_at + rest_ms * interval '1 millisecond',
          case when not any_ok and failures + failed >= failures_before_rest
            then now_at + interval '1 minute' end)
      from sums where e.id = sums.endpoint
      returning e.id, e.account, e.url, e.status, e.failures, e.failing_since, is_gone
    )
    select id, account, url, case when is_gone then 'it answered 410' else 'it failed for five days' end as reason
    from counted
    where status = 'active'
      and (is_gone or failures >= failures_before_rest and failing_since <= now_at - interval '5 days')
    order by account, id
  loop
    update webhook_endpoints set status = 'disabled', reason = ended.reason where id = ended.id;
    perform emit_event(ended.account, 'webhook.disabled',
      jsonb_build_object('webhook_id', ended.id, 'url', masked_url(ended.url), 'reason', ended.reason));
  end loop;
end $$;

-- Makes a synthetic event due at one endpoint.
create or replace function webhook_send_sample(of_endpoint text, event_id text, sample_type text, sample_data jsonb)
returns void language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
begin
  insert into webhook_deliveries (endpoint, event, sample, next_at, since, created_at)
  values (of_endpoint, event_id, jsonb_build_object('type', sample_type, 'data', sample_data), now_at, now_at, now_at);
  perform pg_notify('ergon_webhooks', of_endpoint);
end $$;

-- Makes events of an endpoint due again: those of a time, at most `most`, or one. The row of an event stays one row.
create or replace function webhook_replay(of_endpoint text, event_ids text[]) returns int language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  due int;
begin
  insert into webhook_deliveries as d (endpoint, event, next_at, since, created_at)
  select of_endpoint, id, now_at, now_at, now_at from unnest(event_ids) id order by id
  on conflict (event, endpoint) do update set state = 'pending', next_at = now_at, since = now_at,
    attempts = case when d.state = 'pending' then d.attempts else 0 end;
  get diagnostics due = row_count;
  perform pg_notify('ergon_webhooks', of_endpoint);
  return due;
end $$;

-- Deliveries that wait for their next attempt are due now. Before the change of their endpoint: the order in which
-- webhook_settle() locks the rows.
create or replace function webhook_begin_anew(of_endpoint text, of_account text) returns void language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
begin
  update webhook_deliveries set next_at = now_at
  where endpoint = (select id from webhook_endpoints where id = of_endpoint and account = of_account)
    and state = 'pending' and next_at > now_at;
end $$;

-- Upkeep, again and again: old rows are removed, and deliveries that wait for a time which a clock set back has moved
-- away are due. At most `most` deliveries of each kind in a call; true when there may be more.
create or replace function webhook_upkeep(kept_days int, most int) returns boolean language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  soon constant timestamptz := now_at + interval '1 minute';
  oldest constant timestamptz := now_at - kept_days * interval '1 day';
  done int;
  is_more boolean;
begin
  delete from webhook_deliveries where id in (
    select d.id from webhook_endpoints e cross join lateral (
      select w.id from webhook_deliveries w where w.endpoint = e.id and w.created_at < oldest
      order by w.created_at, w.id limit most) d
    limit most);
  get diagnostics done = row_count;
  is_more := done = most;
  delete from webhook_deliveries where id in (
    select d.id from webhook_deleted e cross join lateral (
      select w.id from webhook_deliveries w where w.endpoint = e.endpoint limit most) d
    limit most);
  get diagnostics done = row_count;
  is_more := is_more or done = most;
  -- No transaction that saw the endpoint is still running.
  if done = 0 then delete from webhook_deleted where at < now_at - interval '1 hour'; end if;
  update webhook_deliveries set next_at = now_at, since = now_at where id in (
    select w.id from webhook_deliveries w where w.state = 'pending' and w.since > soon order by w.since limit most);
  get diagnostics done = row_count;
  is_more := is_more or done = most;
  delete from webhook_buckets w where not exists (select from buckets b where b.id = w.bucket);
  update webhook_endpoints e set old_secrets = (
      select coalesce(jsonb_agg(o order by nth), '[]')
      from jsonb_array_elements(e.old_secrets) with ordinality as old (o, nth)
      where (o ->> 'until')::timestamptz > now_at)
  where exists (select from jsonb_array_elements(e.old_secrets) o where (o ->> 'until')::timestamptz <= now_at);
  update webhook_endpoints set rest_until = null, failed_at = now_at, failing_since = least(failing_since, now_at)
  where failed_at > soon;
  return is_more;
end $$;

-- Adds an endpoint; null where the account has one of this url. Raises EG021 beyond the limit.
create or replace function add_webhook(new_id text, of_account text, new_url text, about text, wanted text[], sealed text,
  most int) returns text language plpgsql as $$
declare
  made text;
begin
  perform pg_advisory_xact_lock(4207713, hashtext(of_account));
  if exists (select from webhook_endpoints where account = of_account and url = new_url) then return null; end if;
  if (select count(*) from webhook_endpoints where account = of_account) >= most then
    raise exception 'too many webhooks' using errcode = 'EG021';
  end if;
  insert into webhook_endpoints (id, account, url, description, events, secret, created_at)
  values (new_id, of_account, new_url, about, wanted, sealed, ledger_now()) returning id into made;
  perform webhook_changed(of_account, made);
  return made;
end $$;

-- Tells the process that delivers.
create or replace function webhook_changed(of_account text, endpoint text) returns void language plpgsql as $$
begin
  perform webhook_follow(of_account);
  perform pg_notify('ergon_webhook_changes', endpoint);
end $$;
