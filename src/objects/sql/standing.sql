-- The standing charge of stored bytes: samples of buckets, and the balance that an account must keep.

-- Samples each bucket once a minute, however many processes ask, and returns what is due now. A minute is charged for
-- the smaller of two samples: this one and the one before. Without a sample in the minute before (the service was
-- down, or the bucket is new) the minute costs nothing. Due energy adds up in the sample until it is worth a charge,
-- or for a day; less than 1 nJ stays in the sample. A deleted bucket is sampled once more, for what is still due. The
-- sample is committed before the charge, so a crash can lose a charge but never charge twice.
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
    -- Locked in one order: of two concurrent callers the second sees the samples of the first.
    select s.bucket, s.at_ms, s.bytes, s.due_zj, s.due_from_ms, s.due_to_ms from storage_samples s
    where s.bucket in (select id from page) order by s.bucket for update
  ), stored as materialized (
    -- Reads the counters, not the objects. Numeric, because bytes × milliseconds × milliwatts pass 2^63.
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

-- Sets the balance that each account with funds must keep: the price of the given energy.
create or replace function storage_reserve(account_ids text[], energies_nj numeric[])
returns void language sql as $$
  delete from storage_reserves where account <> all (account_ids);
  insert into storage_reserves as r (account, pusd)
    select a.id, ceil(given.nj * (select pusd_per_j from current_price()) / 1000000000)
    from unnest(account_ids, energies_nj) as given (id, nj) join accounts a on a.id = given.id and a.funded
    order by a.id
  on conflict (account) do update set pusd = excluded.pusd where r.pusd <> excluded.pusd;
$$;

-- True when the balance of an account is below what it must keep. Then the account can store no more.
create or replace function storage_is_read_only(account_id text) returns boolean language plpgsql stable as $$
begin
  return coalesce((select w.posted < r.pusd from storage_reserves r join wallets w on w.id = 'money:' || r.account
    where r.account = account_id), false);
end $$;
