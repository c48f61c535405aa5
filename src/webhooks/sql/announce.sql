-- Charges and objects as events. Each call takes one account and a bounded number. It locks the account's row: a
-- transaction that locked two of them could wait for a tick that waits for it.

-- The number of leaves of the log that are signed.
create or replace function webhook_sealed() returns bigint language sql stable as $$
  select coalesce(max(s.first_leaf + c.size - (s.link is not null)::int), 0)
  from receipt_shards s cross join lateral (
    select size from receipt_checkpoints c where c.origin = s.origin order by size desc limit 1) c
$$;

-- Accounts with charges or objects to announce.
create or replace function webhook_news() returns table (account text, has_receipts boolean, has_objects boolean)
language sql stable as $$
  select f.account, coalesce(a.charge_count >= f.receipts_from, false), f.objects_from is not null
  from webhook_feeds f join accounts a on a.id = f.account
  where a.charge_count >= f.receipts_from or f.objects_from is not null
  order by f.account
$$;

-- Announces the next signed receipts of an account in one event, at most 100; true when there were as many. Charges of
-- deliveries are left out: each of their events would cause the next charge.
create or replace function webhook_announce_receipts(of_account text) returns boolean language plpgsql as $$
declare
  most constant int := 100;
  sealed constant bigint := webhook_sealed();
  found_count int;
  last_seq bigint;
  receipts jsonb;
begin
  select count(*), max(account_seq), jsonb_agg(jsonb_build_object('receipt_id', id, 'operation', operation,
      'energy_nj', energy_nj::text, 'charge_pusd', charge_pusd::text) order by account_seq)
    filter (where operation <> 'webhook.delivery')
  into found_count, last_seq, receipts
  from (select c.* from webhook_feeds f join charges c on c.account = f.account and c.account_seq >= f.receipts_from
    where f.account = of_account order by c.account_seq limit most) c
  where leaf_index < sealed;
  if found_count = 0 then return false; end if;
  -- Another process of an earlier life may have announced them meanwhile.
  update webhook_feeds set receipts_from = last_seq + 1 where account = of_account and receipts_from <= last_seq;
  if found and receipts is not null then
    perform emit_event(of_account, 'receipt.published', jsonb_build_object('receipts', receipts));
  end if;
  return found_count = most;
end $$;

-- Announces new objects of one bucket that an endpoint of its owner asks for; true when there may be more. Events of
-- running transactions wait, as in objects/create-events.ts.
create or replace function webhook_announce_objects(of_account text) returns boolean language plpgsql as $$
declare
  most constant int := 100;
  seen record;
  place webhook_buckets%rowtype;
  home record;
  read_count int;
  is_more boolean := false;
begin
  for home in
    select b.id, b.name, f.objects_from
    from webhook_feeds f join buckets b on b.account = f.account left join webhook_buckets w on w.bucket = b.id
    where f.account = of_account and f.objects_from is not null and b.notification is not null
      -- Without news nothing is locked. A restored place is treated below.
      and exists (select from storage_events s where s.bucket = b.id
        and s.transaction < pg_snapshot_xmin(pg_current_snapshot())
        and (s.transaction, s.id) > (case when w.transaction >= pg_snapshot_xmax(pg_current_snapshot())
          then '1'::xid8 else coalesce(w.transaction, '0'::xid8) end, coalesce(w.id, 0)))
    order by b.id
  loop
    insert into webhook_buckets (bucket, transaction, id) values (home.id, '0', 0) on conflict do nothing;
    select * into strict place from webhook_buckets where bucket = home.id for update;
    -- The place is of a cluster whose dump was restored: its events are at the beginning now (objects/sql/restored.sql).
    if place.transaction >= pg_snapshot_xmax(pg_current_snapshot()) then place.transaction := '1'; end if;
    read_count := 0;
    for seen in
      select * from storage_events s where s.bucket = home.id and (s.transaction, s.id) > (place.transaction, place.id)
        and s.transaction < pg_snapshot_xmin(pg_current_snapshot())
      order by s.transaction, s.id limit most
    loop
      read_count := read_count + 1;
      place.transaction := seen.transaction;
      place.id := seen.id;
      if seen.at >= home.objects_from and seen.name like 'ObjectCreated:%' and exists (select from webhook_endpoints e
          where e.account = of_account
            and webhook_wants(e.events, 'object.created', jsonb_build_object('bucket', home.name))) then
        perform emit_event(of_account, 'object.created', jsonb_build_object('bucket', home.name, 'key', seen.key,
          'version_id', seen.version_id, 'size', seen.size, 'etag', seen.etag));
      end if;
    end loop;
    if read_count > 0 then
      update webhook_buckets set transaction = place.transaction, id = place.id where bucket = home.id;
    end if;
    is_more := is_more or read_count = most;
  end loop;
  return is_more;
end $$;
