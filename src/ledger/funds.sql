-- Changes of an account's wallet other than usage: funds, credits, expiry. Locks are taken in the order of
-- the tick: wallets by id, then log_head, then all else.

-- The price in force.
create or replace function current_price() returns setof prices language sql stable rows 1 as $$
  select * from prices order by nth desc limit 1
$$;

create or replace function money_unit(account_id text) returns text language sql stable as $$
  select case env when 'test' then 'tUSD' else 'USD' end from accounts where id = account_id
$$;

-- Moves what is not a charge. The wallets are locked.
create or replace function transfer(debit_id text, credit_id text, moved numeric, transfer_kind text, reason text default '')
returns void language plpgsql as $$
begin
  if moved = 0 then return; end if;
  update wallets set posted = posted - moved where id = debit_id;
  update wallets set posted = posted + moved where id = credit_id;
  insert into transfers (debit, credit, amount, kind, reference, at)
    values (debit_id, credit_id, moved, transfer_kind, reason, ledger_now());
end $$;

-- Puts a lot into the money wallet of an account; returns the lot. `lot.reference` names its cause, such as a payment.
create or replace function add_lot(account_id text, lot lots, transfer_kind text) returns bigint language plpgsql as $$
declare
  wallet_id constant text := 'money:' || account_id;
  made bigint;
begin
  insert into wallets (id, unit, bounded) values (wallet_id, money_unit(account_id), true) on conflict do nothing;
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  perform transfer(lot.source, wallet_id, lot.remaining, transfer_kind, coalesce(lot.reference, ''));
  insert into lots (wallet, kind, priority, remaining, expires_at, source, created_at, reference)
    values (wallet_id, lot.kind, lot.priority, lot.remaining, lot.expires_at, lot.source, ledger_now(),
      coalesce(lot.reference, ''))
    returning id into made;
  update accounts set funded = true where id = account_id;
  perform fill_reserves(wallet_id);
  perform arm_low_water(account_id);
  perform change_credentials(null, account_id);
  return made;
end $$;

-- Puts money into an account.
create or replace function grant_funds(account_id text, amount_pusd numeric, lot_kind text, lot_priority int,
  transfer_kind text, lot_expires timestamptz default null)
returns void language plpgsql as $$
declare
  lot lots%rowtype;
begin
  lot.kind := lot_kind;
  lot.priority := lot_priority;
  lot.remaining := amount_pusd;
  lot.expires_at := lot_expires;
  lot.source := 'operator:funds:' || money_unit(account_id);
  perform add_lot(account_id, lot, transfer_kind);
end $$;

-- The one two-phase transfer: money that an authorisation promises. It can be spent at once; posting
-- it means that it was captured, voiding it takes back what is left.
create or replace function pending_credit(pending_id text, account_id text, amount_pusd numeric, lives_until timestamptz)
returns void language plpgsql as $$
declare
  lot lots%rowtype;
begin
  lot.kind := 'funds';
  -- Promotions burn before it, captured money after it.
  lot.priority := 40;
  lot.remaining := amount_pusd;
  lot.source := 'operator:pending:' || money_unit(account_id);
  lot.reference := pending_id;
  insert into pending_credits (id, wallet, amount, expires_at, lot) values (
    pending_id, 'money:' || account_id, amount_pusd, lives_until, add_lot(account_id, lot, 'pending_credit'));
end $$;

-- Settles a pending credit and says whether this call did: it is settled once.
create or replace function settle_pending(pending_id text, outcome text) returns boolean language plpgsql as $$
declare
  credit pending_credits%rowtype;
  source_id text;
begin
  select * into strict credit from pending_credits where id = pending_id;
  perform from wallets where id = credit.wallet for no key update;
  perform from log_head for update;
  update pending_credits set state = outcome where id = pending_id and state = 'pending';
  if not found then return false; end if;
  select case outcome when 'posted' then 'operator:funds:' else 'operator:loss:' end || unit into source_id
    from wallets where id = credit.wallet;
  perform transfer(source_id, (select source from lots where id = credit.lot), credit.amount,
    'pending_' || outcome, pending_id);
  update lots set source = source_id,
    expires_at = case outcome when 'voided' then ledger_now() else expires_at end where id = credit.lot;
  return true;
end $$;

create or replace function post_pending(pending_id text) returns boolean language sql as $$
  select settle_pending(pending_id, 'posted')
$$;

-- The spent part stays the operator's loss; the leased part comes back as leases return.
create or replace function void_pending(pending_id text) returns boolean language plpgsql as $$
declare
  done constant boolean := settle_pending(pending_id, 'voided');
begin
  if done then
    perform expire_wallet(wallet) from pending_credits where id = pending_id;
  end if;
  return done;
end $$;

-- Takes the expired lots out of a locked wallet, up to the part that no lease reserves.
create or replace function expire_wallet(wallet_id text) returns void language plpgsql as $$
declare
  before numeric;
  available numeric;
  taken numeric;
  lot lots%rowtype;
begin
  select posted, posted - reserved into before, available from wallets where id = wallet_id;
  for lot in
    select * from lots where wallet = wallet_id and remaining > 0 and expires_at <= ledger_now()
    order by priority, expires_at, created_at, id
  loop
    taken := least(lot.remaining, available);
    continue when taken = 0;
    available := available - taken;
    update lots set remaining = remaining - taken where id = lot.id;
    perform transfer(wallet_id, lot.source, taken, 'expired', coalesce(nullif(lot.reference, ''), lot.kind));
  end loop;
  perform note_balance(wallet_id, before);
end $$;

-- Expires lots of at most `wallets_max` wallets; returns of how many. A lot whose money is leased
-- stays for a later call.
create or replace function expire_lots(wallets_max int default 500) returns bigint language plpgsql as $$
declare
  due text[];
begin
  due := array(
    select distinct l.wallet from lots l join wallets w on w.id = l.wallet
    where l.remaining > 0 and l.expires_at <= ledger_now() and w.posted > w.reserved
    order by l.wallet limit wallets_max);
  perform from wallets where id = any (due) order by id for no key update;
  perform from log_head for update;
  perform expire_wallet(id) from unnest(due) as id;
  return cardinality(due);
end $$;

-- LEAST_HOLD_NJ of ledger/tick.ts: with less than its price nothing is admitted.
create or replace function least_pusd() returns numeric language sql stable as $$
  select ceil(70000000 * pusd_per_j / 1000000000) from current_price()
$$;

-- The account can pay again: it has money that neither a reserve nor a lease has.
create or replace function note_solvent(account_id text) returns void language sql as $$
  update accounts set depleted_at = null where id = account_id and depleted_at is not null
    and (select posted - reserved from wallets where id = 'money:' || account_id) >= least_pusd()
$$;

-- After each credit: arms balance.low where the balance is well above the account's mark; the account may pay again.
create or replace function arm_low_water(account_id text) returns void language sql as $$
  update accounts set low_water_armed = true where id = account_id and not low_water_armed
    and (select posted from wallets where id = 'money:' || account_id) >= low_water_pusd * 1.1;
  select note_solvent(account_id);
$$;

-- Tells of a balance that fell below the account's mark, or of which nothing but reserves is left.
create or replace function note_balance(wallet_id text, before numeric) returns void language plpgsql as $$
declare
  owner accounts%rowtype;
  after wallets%rowtype;
begin
  if wallet_id not like 'money:%' then return; end if;
  select * into strict after from wallets where id = wallet_id;
  select * into strict owner from accounts where id = substr(wallet_id, 7) for no key update;
  if owner.low_water_armed and after.posted < before and after.posted < owner.low_water_pusd then
    update accounts set low_water_armed = false where id = owner.id;
    perform emit_event(owner.id, 'balance.low', jsonb_build_object('balance_pusd', after.posted::text,
      'low_water_pusd', owner.low_water_pusd::text, 'unit', after.unit));
  end if;
  perform note_depleted(wallet_id, after.posted < before);
end $$;
