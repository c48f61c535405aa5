-- The books' invariants, checked on live data. One that fails stops paid admission until a later check
-- passes, and never the process.

-- The part of the energy of a charge with several parts that a sensor read. The methods are MEASURED_METHODS of
-- contract/known.ts, to which usage.test.ts holds this file.
create or replace function measured_of_parts(parts json) returns numeric language sql immutable as $$
  select coalesce(sum((part ->> 'energy_nj')::numeric), 0) from json_array_elements(parts) part
  where part ->> 'method' in ('rapl', 'plug', 'redfish', 'nvml')
$$;

-- The measured part of any charge's energy, found in its bytes. They are canonical, so the parts lie between two
-- keys, and the method is the last word of a part. Most charges have one part, and few with several have a sensor's;
-- parsing each charge takes five times as long as the rest of a sum. Stable, as convert_from is, and without a query
-- of its own: else it is not inlined.
create or replace function measured_nj(bytes bytea, energy_nj numeric) returns numeric
language sql stable as $$
  select case split_part(split_part(split_part(convert_from(bytes, 'UTF8'),
      '"parts":[', 2), '],"price_id":', 1), '"method":"', 2)
    when 'model"}' then 0
    when 'declared"}' then 0
    when 'rapl"}' then energy_nj
    when 'plug"}' then energy_nj
    when 'redfish"}' then energy_nj
    when 'nvml"}' then energy_nj
    else case when convert_from(bytes, 'UTF8') like any (array['%"method":"rapl"%', '%"method":"plug"%',
        '%"method":"redfish"%', '%"method":"nvml"%'])
      then measured_of_parts(convert_from(bytes, 'UTF8')::json -> 'parts') else 0 end
    end
$$;

-- The energy of each part of a charge in nJ times its band in percent, found in its canonical bytes: the band stands before
-- the energy, and no value of text can hold these quotes.
create or replace function band_weight(bytes bytea) returns numeric language sql stable as $$
  select coalesce(sum(split_part(part, '"', 1)::numeric * split_part(part, '"', 5)::numeric), 0)
  from unnest((string_to_array(convert_from(bytes, 'UTF8'), '"band_pct":"'))[2:]) part
$$;

-- Sums the charges since the last call into audited_accounts, so that a check reads only new ones, and into
-- usage_hours. Neither has an account's charges whose account_seq is above audited_accounts.charges.
create or replace function audit_charges() returns void language plpgsql as $$
declare
  first bigint;
  next bigint;
begin
  select audited into strict first from books for update;
  select size into strict next from log_head;
  insert into audited_accounts as a (account, charges, energy_nj, charge_pusd)
    select account, count(*), sum(energy_nj), sum(charge_pusd) from charges
    where leaf_index >= first and leaf_index < next group by account
    on conflict (account) do update set charges = a.charges + excluded.charges,
      energy_nj = a.energy_nj + excluded.energy_nj, charge_pusd = a.charge_pusd + excluded.charge_pusd;
  insert into usage_hours as u (account, hour, operation, model, token, resource, requests, energy_nj, carbon_pg,
      charge_pusd, measured_nj, band_weight)
    select account, date_trunc('hour', to_at, 'UTC'), operation, coalesce(model, ''), coalesce(token, ''),
      coalesce(resource, ''), count(*), sum(energy_nj), sum(carbon_pg), sum(charge_pusd), sum(measured_nj(bytes, energy_nj)),
      sum(band_weight(bytes)) from charges
    where leaf_index >= first and leaf_index < next group by 1, 2, 3, 4, 5, 6
    on conflict (account, hour, operation, model, token, resource) do update set requests = u.requests + excluded.requests,
      energy_nj = u.energy_nj + excluded.energy_nj, carbon_pg = u.carbon_pg + excluded.carbon_pg,
      charge_pusd = u.charge_pusd + excluded.charge_pusd, measured_nj = u.measured_nj + excluded.measured_nj,
      band_weight = u.band_weight + excluded.band_weight;
  update books set audited = next;
end $$;

-- Every broken invariant, with the first figures that show it. One statement: one snapshot. Wallets of the free tier
-- of days before `since` are left out except their leases, and are taken to hold `past_nj` in all.
create or replace function ledger_faults(since text default '', past_nj numeric default 0)
returns table (invariant text, detail text) language sql stable as $$
  with checked as not materialized (
    select id, unit, posted, reserved, kept, bounded from wallets where id < 'free:' or id >= 'free;'
    union all
    -- All of them are read quicker without the index.
    select id, unit, posted, reserved, kept, bounded from wallets where since = '' and id like 'free:%'
    union all
    select id, unit, posted, reserved, kept, bounded from wallets
    where since <> '' and id like 'free:%' and right(id, 10) >= since
  ), leased as materialized (
    select wallet, sum(amount) as amount from leases group by wallet
  ), totals as materialized (
    select account, sum(charges) as charges, sum(energy_nj) as energy, sum(charge_pusd) as money from (
      select account, charges, energy_nj, charge_pusd from audited_accounts
      union all
      select account, 1, energy_nj, charge_pusd from charges where leaf_index >= (select audited from books)
    ) c group by account
  )
  select 'units_sum_to_zero', format('%s: %s', unit, sum(posted)) from (
    select unit, posted from checked union all select 'nJ', past_nj) p group by unit having sum(posted) <> 0
  union all
  select 'reserved_is_leased', format('%s: %s reserved, %s leased, %s kept', w.id, w.reserved, coalesce(l.amount, 0), w.kept)
    from checked w left join leased l on l.wallet = w.id where w.reserved <> coalesce(l.amount, 0) + w.kept
  union all
  select 'kept_is_in_reserves', format('%s: %s kept, %s in reserves', w.id, w.kept, coalesce(r.amount, 0))
    from wallets w full join (select wallet, sum(amount) as amount from reserves group by wallet) r on r.wallet = w.id
    where w.kept <> coalesce(r.amount, 0)
  union all
  select 'reserved_is_leased', format('%s: %s reserved, %s leased', w.id, w.reserved, l.amount)
    from leased l join wallets w on w.id = l.wallet
    where w.id like 'free:%' and right(w.id, 10) < since and w.reserved <> l.amount
  union all
  select 'wallets_not_overdrawn', format('%s: %s, %s reserved', id, posted, reserved)
    from checked where bounded and (posted < 0 or reserved > posted)
  union all
  select 'lots_are_the_balance', format('%s: %s posted, %s in lots', w.id, w.posted, coalesce(l.remaining, 0))
    from wallets w left join (select wallet, sum(remaining) as remaining from lots where remaining > 0 group by wallet) l
      on l.wallet = w.id
    where w.id like 'money:%' and w.posted <> coalesce(l.remaining, 0)
  union all
  select 'pending_is_promised', format('%s: %s posted, %s promised', w.id, w.posted, coalesce(c.amount, 0))
    from wallets w left join (select money_unit(substr(wallet, 7)) as unit, sum(amount) as amount from pending_credits
      where state = 'pending' group by 1) c on c.unit = w.unit
    where w.id like 'operator:pending:%' and w.posted <> -coalesce(c.amount, 0)
  union all
  -- Unique and below the size, and as many as the size: gapless.
  select 'leaves_are_gapless', format('size %s, %s charges, last leaf %s', size, count, last)
    from log_head, (select coalesce(sum(charges), 0) as count from totals) t,
      (select greatest((select max(leaf_index) from charges), (select max(last_leaf) from charge_bundles), -1) as last) m
    where count <> size or last <> size - 1
  union all
  select 'account_sequences_are_gapless', format('%s: %s counted, %s charges, last %s', a.id, a.charge_count,
      coalesce(t.charges, 0), last)
    from accounts a left join totals t on t.account = a.id left join bundled_accounts p on p.account = a.id,
      lateral (select coalesce((select max(account_seq) from charges where account = a.id), p.charges, 0) as last) m
    where a.charge_count <> coalesce(t.charges, 0) or last <> a.charge_count
  union all
  -- Bundled charges come before all others.
  select 'bundles_come_first', format('%s: %s bundled, first charge %s', p.account, p.charges, first)
    from bundled_accounts p, lateral (select min(account_seq) as first from charges where account = p.account) m
    where first <> p.charges + 1
  union all
  select 'energy_is_charged', format('%s: %s posted, %s charged', a.id, w.posted, coalesce(t.energy, 0))
    from accounts a left join wallets w on w.id = 'energy:' || a.id left join totals t on t.account = a.id
    where coalesce(w.posted, 0) <> coalesce(t.energy, 0)
  union all
  select 'revenue_is_charged', format('%s: %s posted, %s charged', w.unit, w.posted, coalesce(c.money, 0))
    from wallets w left join (
      select money_unit(account) as unit, sum(money) as money from totals group by 1) c on c.unit = w.unit
    where w.id like 'operator:revenue:%' and w.posted <> coalesce(c.money, 0)
$$;

-- Checks the books; a fault raises one alarm and stops paid admission. Returns the faults. A fault found without the
-- free tier's past days is only a suspicion: one of those days may have changed rightly.
create or replace function reconcile() returns json language plpgsql as $$
declare
  faults jsonb;
  known books%rowtype;
  now_at constant timestamptz := ledger_now();
begin
  perform audit_charges();
  select * into strict known from books;
  if known.halted_at is not null or known.past_checked_at is null
    or known.past_checked_at not between now_at - interval '1 day' and now_at
    or exists (select from ledger_faults(known.past_before, known.past_nj))
  then
    select coalesce(jsonb_agg(jsonb_build_object('invariant', f.invariant, 'detail', f.detail)), '[]') into faults
      from ledger_faults() f;
    -- Sessions still spend of yesterday's.
    known.past_before := to_char(now_at at time zone 'UTC' - interval '1 day', 'YYYY-MM-DD');
    update books set past_checked_at = now_at, past_before = known.past_before, past_nj = (
      select coalesce(sum(posted), 0) from wallets where id like 'free:%' and right(id, 10) < known.past_before);
  else
    faults := '[]';
  end if;
  perform raise_alarm('books_do_not_add_up', fault) from books, jsonb_array_elements(faults) fault
    where books.halted_at is null;
  update books set checked_at = ledger_now(),
    halted_at = case when faults = '[]' then null else coalesce(halted_at, ledger_now()) end;
  return faults;
end $$;
