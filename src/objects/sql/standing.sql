-- The standing charge of stored bytes: looking at buckets, and what an account must keep.

-- Looks at buckets, each once in a minute whoever asks, and says what is charged now. A minute is for the
-- lesser of what was stored at this look and at the one before, from that one to now; where the minute
-- before had no look (the service was down, the bucket is new) it is for nothing.
--
-- What minutes are for adds up in the sample until it is worth a charge, or for a day; what is below 1 nJ
-- stays there. A bucket that was deleted is looked at once more, for what is due of it. The look is
-- committed before anything is charged: what it takes may be lost with a process, and is never charged twice.
create or replace function storage_look(minute_ms bigint, bucket_ids int[], zj_per_byte_ms numeric)
returns table (bucket int, name text, account text, bytes numeric, energy_nj numeric, from_ms bigint, to_ms bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  now_ms constant bigint := floor(extract(epoch from ledger_now()) * 1000);
  day_ms constant bigint := 24 * 60 * minute_ms;
  zj_per_nj constant numeric := 1000000000000;
  -- A charge takes 1.0 ms of CPU (170 µs to make, 110 in the state, 730 to seal), which is 3.5 mJ, and its
  -- 1.45 kB take 55 mJ a year at the default power. It is for 1 J: at 1 pUSD, 14 µJ, a thousand buckets of
  -- 0.3 MB made 2 GB of charges a day, for 2 µUSD.
  worth_nj constant numeric := 1000000000;
begin
  return query
  with page as materialized (
    (select id, name, account, documents_bytes, false as is_deleted from buckets where id = any (bucket_ids))
    union all
    (select s.bucket, s.name, s.account, 0, true from storage_samples s
      where s.bucket = any (bucket_ids) and s.account is not null)
  ), earlier as materialized (
    -- Locked in one order: of two who ask at once the second one sees what the first one wrote.
    select s.bucket, s.at_ms, s.bytes, s.due_zj, s.due_from_ms, s.due_to_ms from storage_samples s
    where s.bucket in (select id from page) order by s.bucket for update
  ), stored as materialized (
    -- Counters are read, not the objects. As numeric: bytes times milliseconds times power pass 2^63.
    select page.*, e.at_ms, e.bytes as bytes_before, e.due_zj, e.due_from_ms, e.due_to_ms,
      not is_deleted and coalesce(e.at_ms / minute_ms < now_ms / minute_ms, true) as is_looked,
      documents_bytes
        + coalesce((select sum(u.bytes) from bucket_usage u where u.bucket = page.id), 0) as bytes
    from page left join earlier e on e.bucket = page.id
  ), grown as materialized (
    select s.id, coalesce(s.due_zj, 0) + m.zj as zj,
      case when m.zj > 0 then coalesce(s.due_from_ms, s.at_ms) else s.due_from_ms end as from_ms,
      case when m.zj > 0 then now_ms else s.due_to_ms end as to_ms
    from stored s cross join lateral (
      select case when s.is_looked and s.at_ms / minute_ms = now_ms / minute_ms - 1
        then least(s.bytes, s.bytes_before) * (now_ms - s.at_ms) * zj_per_byte_ms else 0 end as zj
    ) m
  ), due as materialized (
    select s.*, g.zj, g.from_ms, g.to_ms, case
      when s.is_deleted
        or s.is_looked and (g.zj >= worth_nj * zj_per_nj or now_ms - g.from_ms >= day_ms)
      then div(g.zj, zj_per_nj)
      else 0 end as nj
    from stored s join grown g using (id)
  ), looked as (
    insert into storage_samples as s (bucket, at_ms, bytes, due_zj, due_from_ms, due_to_ms)
    select d.id, now_ms, d.bytes, d.zj - d.nj * zj_per_nj,
      case when d.nj = 0 then d.from_ms end, case when d.nj = 0 then d.to_ms end
    from due d where d.is_looked order by d.id
    on conflict (bucket) do update set at_ms = excluded.at_ms, bytes = excluded.bytes,
        due_zj = excluded.due_zj, due_from_ms = excluded.due_from_ms, due_to_ms = excluded.due_to_ms
      where s.at_ms / minute_ms < excluded.at_ms / minute_ms
  ), deleted as (
    delete from storage_samples s using due d where s.bucket = d.id and d.is_deleted
  )
  select d.id, d.name, d.account, d.bytes, d.nj, coalesce(d.from_ms, now_ms), coalesce(d.to_ms, now_ms)
  from due d order by d.id;
end $$;

-- Replaces what accounts with funds must keep: the price of so much energy.
create or replace function storage_reserve(account_ids text[], energies_nj numeric[])
returns void language sql as $$
  delete from storage_reserves where account <> all (account_ids);
  insert into storage_reserves as r (account, pusd)
    select a.id, ceil(given.nj * (select pusd_per_j from current_price()) / 1000000000)
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
