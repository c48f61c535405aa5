-- True when an endpoint asks for an event.
create or replace function webhook_wants(wanted text[], event_type text, data jsonb) returns boolean language sql immutable as $$
  select event_type = any (wanted)
    or event_type = 'object.created' and 'bucket/' || (data ->> 'bucket') || '/object-created' = any (wanted)
$$;

-- The transaction of an event makes its deliveries: one for each endpoint of its account that asks for it, also while the
-- endpoint is paused or disabled. It locks no row of endpoints.
create or replace function webhook_fan_out() returns trigger language plpgsql as $$
declare
  wanting text;
begin
  for wanting in
    insert into webhook_deliveries (endpoint, event, next_at, since, created_at)
    select e.id, new.id, new.occurred_at, new.occurred_at, new.occurred_at
    from webhook_endpoints e
    where e.account = new.account and webhook_wants(e.events, new.type, new.data)
    returning endpoint
  loop
    perform pg_notify('ergon_webhooks', wanting);
  end loop;
  return null;
end $$;

-- Follows charges and objects of an account from now on, while an endpoint asks for them.
create or replace function webhook_follow(of_account text) returns void language plpgsql as $$
declare
  wants_receipts constant boolean := exists (select from webhook_endpoints e
    where e.account = of_account and 'receipt.published' = any (e.events));
  wants_objects constant boolean := exists (select from webhook_endpoints e, unnest(e.events) wanted
    where e.account = of_account and (wanted = 'object.created' or wanted like 'bucket/%'));
begin
  insert into webhook_feeds as feed (account, receipts_from, objects_from)
  select id, case when wants_receipts then charge_count + 1 end, case when wants_objects then clock_timestamp() end
  from accounts where id = of_account
  on conflict (account) do update set
    receipts_from = case when wants_receipts then coalesce(feed.receipts_from, excluded.receipts_from) end,
    objects_from = case when wants_objects then coalesce(feed.objects_from, excluded.objects_from) end;
  delete from webhook_feeds where account = of_account and receipts_from is null and objects_from is null;
end $$;
