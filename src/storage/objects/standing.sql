-- The standing charge of stored bytes: looking at buckets, and what an account must keep.

-- Looks at a page of buckets, each once in a minute whoever asks, and says what the minute is charged
-- for: the lesser of what was stored at this look and at the one before, from that one to now. Where
-- the minute before had no look (the service was down, the bucket is new) it is for nothing. The look is
-- committed before anything is charged: a minute may be lost with a process, and is never charged twice.
create or replace function storage_look(minute_ms bigint, after int, most int)
returns table (bucket int, name text, account text, bytes bigint, charged_bytes bigint, from_ms bigint, to_ms bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  now_ms constant bigint := floor(extract(epoch from ledger_now()) * 1000);
begin
  return query
  with page as materialized (
    select id, name, account from buckets where id > after order by id limit most
  ), earlier as materialized (
    -- Locked in one order: of two who ask at once the second one sees what the first one wrote.
    select s.bucket, s.at_ms, s.bytes from storage_samples s
    where s.bucket in (select id from page) order by s.bucket for update
  ), stored as materialized (
    -- All versions, and parts of uploads that are not completed; counters are read, not the objects.
    select page.*, e.at_ms, e.bytes as bytes_before,
      coalesce((select sum(u.bytes) from bucket_usage u where u.bucket = page.id), 0)::bigint
      + coalesce((select sum(p.size) from uploads o join upload_parts p on p.upload = o.id
          where o.bucket = page.id and o.completed is null), 0)::bigint as bytes
    from page left join earlier e on e.bucket = page.id
  ), looked as (
    insert into storage_samples as s (bucket, at_ms, bytes) select id, now_ms, bytes from stored order by id
    on conflict (bucket) do update set at_ms = excluded.at_ms, bytes = excluded.bytes
      where s.at_ms / minute_ms < excluded.at_ms / minute_ms
  )
  select s.id, s.name, s.account, s.bytes,
    case when s.at_ms / minute_ms = now_ms / minute_ms - 1 then least(s.bytes, s.bytes_before) else 0 end,
    coalesce(s.at_ms, now_ms), now_ms
  from stored s order by s.id;
end $$;

-- Replaces what accounts with funds must keep: the price of so much energy.
create or replace function storage_reserve(account_ids text[], energies_nj numeric[])
returns void language sql as $$
  delete from storage_reserves where account <> all (account_ids);
  insert into storage_reserves as r (account, pusd)
    select a.id, ceil(given.nj * (select pusd_per_j from prices order by since desc, id desc limit 1) / 1000000000)
    from unnest(account_ids, energies_nj) as given (id, nj) join accounts a on a.id = given.id and a.funded
    order by a.id
  on conflict (account) do update set pusd = excluded.pusd where r.pusd <> excluded.pusd;
$$;

-- Whether an account has less than it must keep: then nothing more is stored for it.
create or replace function storage_is_read_only(account_id text) returns boolean language plpgsql stable as $$
begin
  return coalesce((select w.posted < r.pusd from storage_reserves r join wallets w on w.id = 'money:' || r.account
    where r.account = account_id), false);
end $$;
