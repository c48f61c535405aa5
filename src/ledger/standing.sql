-- The standing charge of stored bytes: samples of the bytes of accounts, of every product.

-- Samples each of the things once a minute, however many processes ask, and returns what is due now. The arrays have
-- the things that exist: their ids, names, accounts and stored bytes. `asked` has their ids and those of deleted
-- things.
--
-- A minute is charged for the smaller of two samples: this one and the one before. Without a sample in the minute
-- before (the service was down, or the thing is new) the minute costs nothing. Due energy adds up in the sample until
-- it is worth a charge, or for a day; less than 1 nJ stays in the sample. A deleted thing is returned once more, for
-- its last dues. The sample is committed before the charge, so a crash can lose a charge but never charge twice.
create or replace function standing_look(of_kind text, minute_ms bigint, zj_per_byte_ms numeric, asked text[],
  ids text[], names text[], accounts text[], stored numeric[])
returns table (id text, name text, account text, bytes numeric, energy_nj numeric, from_ms bigint, to_ms bigint)
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
    (select p.id, p.name, p.account, p.bytes, false as is_deleted
      from unnest(ids, names, accounts, stored) as p (id, name, account, bytes))
    union all
    (select s.id, s.name, s.account, 0, true from standing_samples s
      where s.kind = of_kind and s.id = any (asked) and s.account is not null)
  ), earlier as materialized (
    -- Locked in one order: of two concurrent callers the second sees the samples of the first.
    select s.id, s.at_ms, s.bytes, s.due_zj, s.due_from_ms, s.due_to_ms from standing_samples s
    where s.kind = of_kind and s.id in (select p.id from page p) order by s.id for update
  ), looking as materialized (
    -- Numeric, because bytes × milliseconds × milliwatts pass 2^63.
    select page.*, e.at_ms, e.bytes as bytes_before, e.due_zj, e.due_from_ms, e.due_to_ms,
      not is_deleted and coalesce(e.at_ms / minute_ms < now_ms / minute_ms, true) as is_looked
    from page left join earlier e on e.id = page.id
  ), grown as materialized (
    select s.id, coalesce(s.due_zj, 0) + m.zj as zj,
      case when m.zj > 0 then coalesce(s.due_from_ms, s.at_ms) else s.due_from_ms end as from_ms,
      case when m.zj > 0 then now_ms else s.due_to_ms end as to_ms
    from looking s cross join lateral (
      select case when s.is_looked and s.at_ms / minute_ms = now_ms / minute_ms - 1
        then least(s.bytes, s.bytes_before) * (now_ms - s.at_ms) * zj_per_byte_ms else 0 end as zj
    ) m
  ), due as materialized (
    select s.*, g.zj, g.from_ms, g.to_ms, case
      when s.is_deleted
        or s.is_looked and (g.zj >= worth_nj * zj_per_nj or now_ms - g.from_ms >= day_ms)
      then div(g.zj, zj_per_nj)
      else 0 end as nj
    from looking s join grown g using (id)
  ), looked as (
    insert into standing_samples as s (kind, id, at_ms, bytes, due_zj, due_from_ms, due_to_ms)
    select of_kind, d.id, now_ms, d.bytes, d.zj - d.nj * zj_per_nj,
      case when d.nj = 0 then d.from_ms end, case when d.nj = 0 then d.to_ms end
    from due d where d.is_looked order by d.id
    on conflict (kind, id) do update set at_ms = excluded.at_ms, bytes = excluded.bytes,
        due_zj = excluded.due_zj, due_from_ms = excluded.due_from_ms, due_to_ms = excluded.due_to_ms
      where s.at_ms / minute_ms < excluded.at_ms / minute_ms
  ), deleted as (
    delete from standing_samples s using due d where s.kind = of_kind and s.id = d.id and d.is_deleted
  )
  select d.id, d.name, d.account, d.bytes, d.nj, coalesce(d.from_ms, now_ms), coalesce(d.to_ms, now_ms)
  from due d order by d.id;
end $$;

-- Called when a thing is deleted, in the same transaction. The next sample charges what is due; a charge is at least
-- 1 nJ.
create or replace function standing_end(of_kind text, of_id text, named text, of_account text)
returns void language sql as $$
  delete from standing_samples where kind = of_kind and id = of_id and due_zj < 1000000000000;
  update standing_samples set name = named, account = of_account where kind = of_kind and id = of_id;
$$;
