-- The tick: the only statement that moves wallets for usage. Up: what a session journaled, and the
-- leases it wants. Down: grants, what to forget, price and tariff. src/ledger/reference/tick.ts is the same
-- function in TypeScript, and a property test holds the two together.
--
-- Locks are taken in one order: session, wallets of accounts by id, then log_head, which is held to
-- the end and guards all else (accounts, the operator's and the meters' wallets). So leaf indexes and
-- account sequences are gapless and two ticks cannot deadlock.
--
-- It never fails for one account: what exceeds a lease is posted to the operator's loss and alarmed.

create or replace function lease_wallet(want text, at timestamptz) returns text
language sql immutable as $$
  -- The day rides on the grant: a want names 'free:<account>' or 'budget:<id>', the grant names the day's wallet.
  select case when want ~ '^(free|budget):[^:]*$'
    then want || ':' || to_char(at at time zone 'UTC', 'YYYY-MM-DD') else want end
$$;

-- The bytes of one of the records that came as one.
create or replace function tick_bytes(packed bytea, ends int[], nth bigint) returns bytea
language sql immutable as $$
  select substr(packed, coalesce(ends[nth - 1], 0) + 1, ends[nth] - coalesce(ends[nth - 1], 0))
$$;

-- The records come in the order of their numbers. `packed` has all their bytes in a row, and `ends` the end of each:
-- as JSON texts in a JSON array they took a third of the server's CPU of a tick.
create or replace function tick(head json, seqs bigint[], kinds smallint[], ends int[], packed bytea,
  debit_seqs bigint[], debit_wallets text[], debit_amounts numeric[], wants json)
returns json language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  me sessions%rowtype;
  price prices%rowtype;
  known bigint := 0;
  fresh bigint := 0;
  leaves bigint;
  spent_wallets text[];
  spent_amounts numeric[];
  new_wallets bigint := 0;
  unfit text[] := '{}';
  grants json := '[]';
begin
  select * into me from sessions where id = head ->> 'session' for no key update;
  if not found or me.closed_at is not null then
    raise exception 'session % is not open', head ->> 'session' using errcode = 'EG001';
  end if;
  if (head ->> 'number')::bigint <= me.last_tick then
    raise exception 'session % has ticked since', me.id using errcode = 'EG004';
  end if;
  select * into strict price from current_price();
  -- Most ticks of an idle product say only that a session lives, or bring a window: what such a one needs not
  -- was more than half of its cost.
  if cardinality(seqs) > 0 then
    known := tick_known(seqs, ends, packed, me);
    fresh := cardinality(seqs) - known;
  end if;
  if fresh > 0 and cardinality(debit_seqs) > 0 then
    select array_agg(wallet), array_agg(amount) into spent_wallets, spent_amounts from (
      select wallet, sum(amount) as amount
      from unnest(debit_seqs, debit_wallets, debit_amounts) as d (seq, wallet, amount)
      where seq > me.last_seq and seq <= me.last_seq + fresh group by wallet) d;
  end if;
  if spent_wallets is not null or json_array_length(wants) > 0 then
    new_wallets := tick_open_day(wants, price, now_at);
    perform from wallets where id in (
        select lease_wallet(w.wallet, now_at) from json_to_recordset(wants) as w (wallet text)
        union select unnest(spent_wallets)
      ) order by id for no key update;
    unfit := tick_unfit_budgets(wants, now_at);
  end if;
  if fresh > 0 or new_wallets > 0 or cardinality(unfit) > 0 then
    select size into strict leaves from log_head for update;
    perform fit_budget(wallet) from unnest(unfit) with ordinality as u (wallet, nth) order by nth;
    update wallets set posted = posted - new_wallets * price.free_tier_nj
      where id = 'operator:free-tier' and new_wallets > 0;
  end if;
  if fresh > 0 then
    if spent_wallets is not null then
      perform tick_post(spent_wallets, spent_amounts, me.id);
    end if;
    if 1 = any (kinds) then
      if tick_append_charges(seqs, kinds, ends, packed, known, me.id, leaves) then
        perform count_unlimited(me.id, me.last_seq, debit_seqs, debit_wallets);
      end if;
    end if;
    if 2 = any (kinds) then
      perform tick_append_windows(seqs, kinds, ends, packed, known, me.id);
    end if;
  end if;
  if json_array_length(wants) > 0 then
    if me.draws is not null then perform tick_draw(wants, me); end if;
    grants := tick_grant(wants, me.id, now_at);
  end if;

  update sessions set last_seq = last_seq + fresh, last_tick = (head ->> 'number')::bigint,
    -- The epoch that the session has acted on, by its own word: a revocation waits until all sessions have reached it.
    epoch = greatest(epoch, (head ->> 'epoch')::bigint),
    until = now_at + interval '2 seconds'
  where id = me.id;

  return json_build_object(
    'grants', grants,
    'recalls', coalesce((select json_agg(wallet order by wallet) from (
      select s.wallet from shortages s join leases l on l.wallet = s.wallet and l.session = me.id and l.amount > 0
      where s.session <> me.id and s.at > now_at - interval '1 second'
      union
      -- Of a budget that was lowered, or of which something was charged without it.
      select d.wallet from leases l join budget_days d on d.wallet = l.wallet join budgets b on b.id = d.budget
      where l.session = me.id and l.wallet like 'budget:%' and l.amount > 0
        and d.granted_nj > budget_share(b.nj_per_day, d.unlimited_nj) and d.wallet = budget_day(b.id, now_at)) r), '[]'),
    'last_seq', me.last_seq + fresh,
    'epoch', coalesce((select max(epoch) from credential_changes), 0),
    'changes', coalesce((select json_agg(json_build_object('token', token, 'account', account) order by epoch)
      from credential_changes where epoch > (head ->> 'epoch')::bigint), '[]'),
    'price', json_build_object('id', price.id, 'pusd_per_j', price.pusd_per_j::text),
    'tariff', (select body from tariffs where meter = head ->> 'meter'),
    'halted', (select halted_at is not null from books));
end $$;

-- The number of records that are posted already. They must be the same records, and none may be left out.
create or replace function tick_known(seqs bigint[], ends int[], packed bytea, me sessions)
returns bigint language plpgsql as $$
declare
  known constant bigint := (select count(*) from unnest(seqs) as seq where seq <= me.last_seq);
begin
  if known > 0 and exists (
    select from unnest(seqs) with ordinality as r (seq, nth)
    left join charges c on c.session = me.id and c.seq = r.seq
    left join windows w on w.session = me.id and w.seq = r.seq
    where r.seq <= me.last_seq
      and coalesce(c.hash, w.hash) is distinct from sha256(tick_bytes(packed, ends, r.nth))
  ) then
    raise exception 'session % sent another record under a posted number', me.id using errcode = 'EG002';
  end if;
  if exists (
    select from unnest(seqs) with ordinality as r (seq, nth)
    where r.nth > known and r.seq <> me.last_seq + r.nth - known
  ) then
    raise exception 'session % left out a record after %', me.id, me.last_seq using errcode = 'EG003';
  end if;
  return known;
end $$;

-- Makes the day's wallets of the free tier and of budgets that are wanted for the first time; returns how many there
-- are of the free tier. Those of budgets are empty until they are fitted.
create or replace function tick_open_day(wants json, price prices, now_at timestamptz)
returns bigint language plpgsql as $$
declare
  made text[];
begin
  with opened as (
    insert into wallets (id, unit, bounded)
    select budget_day(b.id, now_at), 'nJ', true
    from budgets b where 'budget:' || b.id in (select w.wallet from json_to_recordset(wants) as w (wallet text))
    order by 1 on conflict (id) do nothing returning id
  ) insert into budget_days (wallet, budget) select id, split_part(id, ':', 2) from opened;
  with opened as (
    insert into wallets (id, unit, posted, bounded)
    select distinct lease_wallet(w.wallet, now_at), 'nJ', price.free_tier_nj, true
    from json_to_recordset(wants) as w (wallet text)
    where w.wallet like 'free:%' and w.wallet not like 'free:%:%'
    order by 1
    on conflict (id) do nothing returning id
  ) select coalesce(array_agg(id order by id), '{}') into made from opened;
  insert into transfers (debit, credit, amount, kind)
    select 'operator:free-tier', id, price.free_tier_nj, 'free_tier' from unnest(made) as id
    where price.free_tier_nj > 0;
  return cardinality(made);
end $$;

-- The day's wallets of budgets among the wants that are not fitted to their budgets.
create or replace function tick_unfit_budgets(wants json, now_at timestamptz) returns text[]
language sql stable as $$
  select coalesce(array_agg(d.wallet order by d.wallet), '{}') from budget_days d join budgets b on b.id = d.budget
  where d.wallet in (select lease_wallet(w.wallet, now_at) from json_to_recordset(wants) as w (wallet text)
      where w.wallet like 'budget:%')
    and d.granted_nj <> budget_share(b.nj_per_day, d.unlimited_nj) and d.wallet = budget_day(b.id, now_at)
$$;

create or replace function tick_counterpart(wallet text, unit text) returns text
language sql immutable as $$
  select case when wallet like 'free:%' then 'operator:free-tier'
    when wallet like 'budget:%' then 'operator:budget' else 'operator:revenue:' || unit end
$$;

-- Takes out of the wallets what the new records were settled with, as far as the session's leases cover
-- it: lots first to last, then the balance. One statement has all wallets: a statement for each wrote the operator's
-- row once for each wallet, which took longer than all else with a thousand wallets.
create or replace function tick_post(spent_wallets text[], spent_amounts numeric[], session_id text)
returns void language plpgsql as $$
declare
  debit record;
begin
  for debit in
    with debits as materialized (
      select d.wallet, w.unit, w.kept, w.posted as before, least(d.amount, coalesce(l.amount, 0)) as taken,
        greatest(0, d.amount - coalesce(l.amount, 0)) as excess
      from unnest(spent_wallets, spent_amounts) as d (wallet, amount)
      left join wallets w on w.id = d.wallet
      left join leases l on l.wallet = d.wallet and l.session = session_id
    ), leased as (
      update leases l set amount = l.amount - d.taken from debits d
      where l.wallet = d.wallet and l.session = session_id and d.taken > 0
    ), paid as (
      update wallets w set posted = w.posted - d.taken, reserved = w.reserved - d.taken from debits d
      where w.id = d.wallet and d.taken > 0
    ), received as (
      update wallets w set posted = w.posted + r.amount
      from (select tick_counterpart(wallet, unit) as id, sum(taken) as amount from debits
        where taken > 0 group by 1) r
      where w.id = r.id
    ), burnt as (
      update lots l set remaining = l.remaining - least(l.remaining, o.taken - o.earlier)
      from (select lot.id, d.taken, sum(lot.remaining) over (partition by lot.wallet order by lot.priority,
            lot.expires_at nulls last, lot.created_at, lot.id) - lot.remaining as earlier
          from debits d join lots lot on lot.wallet = d.wallet and lot.remaining > 0 where d.taken > 0) o
      where l.id = o.id and o.earlier < o.taken
    )
    select d.*, a.id is not null and d.taken > 0 as is_low
    from debits d left join accounts a on d.wallet = 'money:' || a.id
      and d.before - d.taken < greatest(a.low_water_pusd, least_pusd() + d.kept)
    where d.excess > 0 or a.id is not null or d.taken > 0 and d.wallet like 'budget:%' order by d.wallet
  loop
    if debit.is_low then
      perform note_balance(debit.wallet, debit.before);
    elsif debit.taken > 0 and debit.wallet like 'budget:%' then
      perform note_budget(debit.wallet);
    end if;
    continue when debit.excess = 0;
    perform raise_alarm('lease_exceeded', jsonb_build_object(
      'session', session_id, 'wallet', debit.wallet, 'excess', debit.excess::text));
    -- The revenue stays the sum of the charges; the operator absorbs the part that the wallet could not pay. An
    -- unknown wallet has no unit: the books will not add up, and reconcile says so.
    continue when debit.unit is null;
    perform transfer('operator:loss:' || debit.unit, tick_counterpart(debit.wallet, debit.unit),
      debit.excess, 'lease_exceeded', session_id);
  end loop;
end $$;

-- Moves money between a reserve and the lease of a session that draws on it, before the tick grants its wants. The
-- reserve gives the part that the balance lacks, and takes the part that the session returns.
create or replace function tick_draw(wants json, me sessions) returns void language sql as $$
  with moved as materialized (
    select r.wallet, case when w.amount >= coalesce(l.amount, 0)
      then least(r.amount, greatest(0, w.amount - coalesce(l.amount, 0) - (t.posted - t.reserved)))
      else greatest(w.amount - l.amount, r.amount - r.wanted) end as drawn
    from (select wallet, max(amount) as amount from json_to_recordset(wants) as sent (wallet text, amount numeric)
        group by wallet) w
    join reserves r on r.wallet = w.wallet and r.kind = me.draws
    join wallets t on t.id = r.wallet
    left join leases l on l.wallet = r.wallet and l.session = me.id
  ), kept as (
    update reserves r set amount = r.amount - m.drawn from moved m
    where r.wallet = m.wallet and r.kind = me.draws and m.drawn <> 0
  ), returned as (
    update leases l set amount = l.amount + m.drawn from moved m
    where l.wallet = m.wallet and l.session = me.id and m.drawn < 0
  )
  update wallets t set kept = t.kept - m.drawn, reserved = t.reserved - greatest(0, m.drawn)
  from moved m where t.id = m.wallet and m.drawn <> 0
$$;

-- Brings each lease to the energy that the session wants, as far as the wallet allows; returns the grants. Where
-- other sessions' leases are in the way, the answers to those sessions' ticks say so for a second.
create or replace function tick_grant(wants json, session_id text, now_at timestamptz)
returns json language plpgsql as $$
declare
  grants json;
  is_short boolean;
begin
  with wanted as materialized (
    -- Two wants may name one wallet: 'free:<account>', and the day's own while the clock is set back.
    select w.want, w.wallet, w.amount, coalesce(l.amount, 0) as lease,
      t.reserved - t.kept > coalesce(l.amount, 0) as elsewhere,
      least(w.amount, coalesce(l.amount, 0) + greatest(0, t.posted - t.reserved)) as granted
    from (select min(wallet) as want, lease_wallet(wallet, now_at) as wallet, max(amount) as amount
        from json_to_recordset(wants) as sent (wallet text, amount numeric) group by 2) w
    join wallets t on t.id = w.wallet and t.bounded
    left join leases l on l.wallet = t.id and l.session = session_id
  ), reserved as (
    update wallets t set reserved = t.reserved + w.granted - w.lease from wanted w
    where t.id = w.wallet and w.granted <> w.lease
  ), leased as (
    insert into leases (wallet, session, amount)
    select wallet, session_id, granted from wanted where granted > 0 and granted <> lease
    on conflict (wallet, session) do update set amount = excluded.amount
  ), returned as (
    delete from leases l using wanted w
    where l.wallet = w.wallet and l.session = session_id and w.granted = 0
  ), short as (
    insert into shortages (wallet, session, at)
    select wallet, session_id, now_at from wanted where granted < amount and elsewhere
    on conflict (wallet, session) do update set at = excluded.at
  )
  select coalesce(json_agg(json_build_object('want', want, 'wallet', wallet, 'amount', granted::text,
    'dry', granted < amount, 'elsewhere', elsewhere) order by wallet), '[]'),
    coalesce(bool_or(granted < amount and elsewhere), false)
  into grants, is_short from wanted;
  if is_short then
    delete from shortages where session = session_id and at <= now_at - interval '1 second';
  end if;
  return grants;
end $$;

-- Writes the rows of the charges after the first `known` records, their energy postings and the log's
-- new leaves; true where any is of a resource.
create or replace function tick_append_charges(seqs bigint[], kinds smallint[], ends int[], packed bytea,
  known bigint, session_id text, leaves bigint)
returns boolean language plpgsql as $$
declare
  has_resources boolean;
begin
  with sent as (
    select seq, nth, row_number() over (order by nth) - 1 as position
    from unnest(seqs, kinds) with ordinality as r (seq, kind, nth) where nth > known and kind = 1
  ), parsed as materialized (
    -- Narrow, so that the next step sorts in memory: the bytes are cut out again when a row is written.
    select s.*, f.*
    from sent s,
      json_to_record(convert_from(tick_bytes(packed, ends, s.nth), 'UTF8')::json) as f (id text, account text,
        token text, operation text, resource text, model text, status int, energy_nj numeric, carbon_pg numeric,
        charge_pusd numeric, free boolean, "to" timestamptz, parts json)
  ), ranked as (
    -- In the order of the log: its index and the session's grow at their ends.
    select p.*, row_number() over (partition by account order by nth) as nth_of_account from parsed p order by nth
  ), totals as materialized (
    select account, count(*) as count, sum(energy_nj) as energy from parsed group by account
  ), counted as (
    update accounts a set charge_count = a.charge_count + t.count from totals t
    where a.id = t.account returning a.id, a.charge_count - t.count as before
  ), written as (
    insert into charges (session, seq, id, account, account_seq, leaf_index, token, operation, resource, model,
      status, energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
    select session_id, r.seq, r.id, r.account, c.before + r.nth_of_account,
      leaves + r.position, r.token, r.operation,
      case when r.resource not like 's3:%' then split_part(r.resource, ':', 2) end, r.model,
      r.status, r.energy_nj, r.carbon_pg, r.charge_pusd, r.free, r."to", sha256(tick_bytes(packed, ends, r.nth)), tick_bytes(packed, ends, r.nth)
    -- An account that is not known has no number and fails here: it must not leave a hole in the log.
    from ranked r left join counted c on c.id = r.account
  ), received as (
    update wallets w set posted = w.posted + t.energy from totals t where w.id = 'energy:' || t.account
  ), readings as (
    -- An upstream is its own meter: what a charge says of it is its reading.
    select part ->> 'meter' as meter, sum((part ->> 'energy_nj')::numeric) as energy
    from parsed, json_array_elements(parts) part
    where parts::text like '%"upstream:%' and part ->> 'meter' like 'upstream:%' group by 1
  ), meters as (
    insert into wallets (id, unit, posted, bounded)
    select 'meter:' || meter, 'nJ', -energy, false from readings
    on conflict (id) do update set posted = wallets.posted + excluded.posted
  ), grown as (
    update log_head set size = size + (select coalesce(sum(count), 0) from totals)
  )
  update wallets set posted = posted
    + coalesce((select sum(energy) from readings), 0) - coalesce((select sum(energy) from totals), 0)
  where id = 'operator:energy'
  returning exists (select from parsed where resource not like 's3:%') into has_resources;
  return has_resources;
end $$;

-- Writes the rows of the meter windows after the first `known` records, and what they read.
create or replace function tick_append_windows(seqs bigint[], kinds smallint[], ends int[], packed bytea,
  known bigint, session_id text)
returns void language plpgsql as $$
begin
  with metered as (
    insert into windows (session, seq, meter, k, reading_nj, hash, bytes)
    select session_id, r.seq, f.meter, f.k, f.reading_nj, sha256(cut.bytes), cut.bytes
    from unnest(seqs, kinds) with ordinality as r (seq, kind, nth),
      tick_bytes(packed, ends, r.nth) as cut (bytes),
      json_to_record(convert_from(cut.bytes, 'UTF8')::json) as f (meter text, k bigint, reading_nj numeric)
    where r.nth > known and r.kind = 2
    returning meter, reading_nj
  ), readings as (
    select meter, sum(reading_nj) as energy from metered group by meter
  ), meters as (
    insert into wallets (id, unit, posted, bounded)
    select 'meter:' || meter, 'nJ', -energy, false from readings
    on conflict (id) do update set posted = wallets.posted + excluded.posted
  )
  update wallets set posted = posted + coalesce((select sum(energy) from readings), 0)
  where id = 'operator:energy';
end $$;
