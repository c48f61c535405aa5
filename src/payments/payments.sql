-- The life of a payment. Money moves only by payment_fact(): what a processor told in a verified webhook, or when it was
-- asked. Locks: payment, wallet, log_head, all else.

-- Begins a payment. Null where the account has too many that are under way, or a hold already.
create or replace function begin_payment(payment_id text, of_account text, of_processor text, of_kind text,
  amount numeric, of_method text, open_max integer) returns text language plpgsql as $$
declare
  made text;
begin
  perform from accounts where id = of_account for no key update;
  insert into payments (id, account, processor, kind, amount_pusd, method, state, created_at, changed_at)
    select payment_id, of_account, of_processor, of_kind, amount, of_method, 'created', ledger_now(), ledger_now()
    where (select count(*) from payments where account = of_account
        and state in ('created', 'requires_action')) < open_max
      and (of_kind <> 'hold' or not exists (select from payments where account = of_account and kind = 'hold'
        and state in ('created', 'requires_action', 'authorized', 'captured', 'disputed')))
    returning id into made;
  return made;
end $$;

-- Writes down the processor's answer to our own call. No money moves.
create or replace function note_payment(payment_id text, of_reference text, of_action jsonb, failure text)
returns void language plpgsql as $$
declare
  pay payments%rowtype;
begin
  update payments set reference = coalesce(reference, of_reference), action = of_action, changed_at = ledger_now(),
    state = case when of_action is not null and state = 'created' then 'requires_action' else state end
  where id = payment_id returning * into strict pay;
  if failure is not null then perform payment_ended(pay, 'failed', failure); end if;
end $$;

-- A fact of a processor: applied once, in one transaction. Returns its outcome: applied, ignored (it came late, or
-- nothing follows from it), known (it came before), not_ours, refused (an alarm says why).
create or replace function payment_fact(of_processor text, fact jsonb) returns text language plpgsql as $$
declare
  pay payments%rowtype;
  result text;
begin
  insert into payment_facts (processor, id, outcome, at) values (of_processor, fact ->> 'id', '', ledger_now())
    on conflict do nothing;
  if not found then return 'known'; end if;
  if fact ->> 'type' like 'method_%' then
    result := payment_method_fact(of_processor, fact);
  else
    select * into pay from payments where processor = of_processor
      and (id = fact ->> 'payment' or reference = fact ->> 'reference') order by id limit 1 for no key update;
    if not found then
      result := 'not_ours';
    elsif not payment_fits(pay, fact) then
      perform raise_alarm('payment_mismatch', fact || jsonb_build_object('ours', pay.id,
        'ours_pusd', pay.amount_pusd::text));
      result := 'refused';
    else
      update payments set reference = coalesce(reference, fact ->> 'reference') where id = pay.id;
      result := case when payment_step(pay, fact) then 'applied' else 'ignored' end;
    end if;
  end if;
  update payment_facts set outcome = result where processor = of_processor and id = fact ->> 'id';
  return result;
end $$;

-- The fact is of this payment's money: its reference, its unit, its amount.
create or replace function payment_fits(pay payments, fact jsonb) returns boolean language sql stable as $$
  select coalesce(fact ->> 'payment' = pay.id, true)
    and coalesce(fact ->> 'reference' = pay.reference, true)
    and coalesce(fact ->> 'unit' = money_unit(pay.account), true)
    and coalesce(case when fact ->> 'type' in ('authorized', 'captured')
      then (fact ->> 'pusd')::numeric = pay.amount_pusd
      else (fact ->> 'pusd')::numeric <= pay.amount_pusd end, true)
$$;

create or replace function payment_step(pay payments, fact jsonb) returns boolean language plpgsql as $$
declare
  told constant text := fact ->> 'type';
  is_open constant boolean := pay.state in ('created', 'requires_action', 'failed');
begin
  case told
    when 'requires_action' then
      update payments set state = told, changed_at = ledger_now() where id = pay.id and state = 'created';
      return found;
    when 'authorized' then
      return is_open and payment_authorized(pay, (fact ->> 'until')::timestamptz);
    when 'captured' then
      return (is_open or pay.state in ('authorized', 'voided', 'expired')) and payment_captured(pay);
    when 'voided', 'expired', 'failed' then
      return payment_ended(pay, told, fact ->> 'reason');
    when 'refunded', 'refund_failed' then
      return payment_refunded(pay, fact);
    when 'disputed' then
      return pay.state = 'captured' and payment_disputed(pay, (fact ->> 'pusd')::numeric);
    when 'dispute_won' then
      return pay.state = 'disputed' and payment_dispute_won(pay);
    when 'dispute_lost' then
      return false;
  end case;
end $$;

-- The money can be spent from now on, until the authorisation ends.
create or replace function payment_authorized(pay payments, lives timestamptz) returns boolean language plpgsql as $$
begin
  if lives <= ledger_now() then
    update payments set state = 'expired', changed_at = ledger_now() where id = pay.id;
    return true;
  end if;
  perform pending_credit(pay.id, pay.account, pay.amount_pusd, lives);
  update payments set state = 'authorized', lives_until = lives, reason = null, action = null,
    changed_at = ledger_now(), lot = (select c.lot from pending_credits c where c.id = pay.id) where id = pay.id;
  return true;
end $$;

-- The money is here. That of an authorisation is spendable already; where the ledger has given the authorisation up, the
-- money comes anew.
create or replace function payment_captured(pay payments) returns boolean language plpgsql as $$
declare
  lot lots%rowtype;
  of_lot bigint := pay.lot;
begin
  if pay.state <> 'authorized' or not post_pending(pay.id) then
    lot.kind := 'funds';
    lot.priority := 50;
    lot.remaining := pay.amount_pusd;
    lot.source := 'operator:funds:' || money_unit(pay.account);
    lot.reference := pay.id;
    of_lot := add_lot(pay.account, lot, 'top_up');
  end if;
  update payments set state = 'captured', lot = of_lot, reason = null, action = null, changed_at = ledger_now()
    where id = pay.id;
  update payment_accounts set auto_failures = 0 where account = pay.account and pay.kind = 'automatic';
  return true;
end $$;

create or replace function payment_ended(pay payments, outcome text, why text) returns boolean language plpgsql as $$
begin
  if pay.state = 'authorized' and outcome <> 'failed' then
    perform void_pending(pay.id);
  elsif pay.state not in ('created', 'requires_action') then
    -- A second word of the same refusal has nothing to add.
    return false;
  end if;
  update payments set state = outcome, reason = why, action = null, changed_at = ledger_now() where id = pay.id;
  update payment_accounts set auto_failures = auto_failures + 1
    where account = pay.account and pay.kind = 'automatic' and outcome = 'failed';
  return true;
end $$;

-- Sets money of a payment aside for a refund: what is not spent and not reserved, in whole cents. Without an amount all
-- of it. Returns the amount, or null where there is not so much.
create or replace function begin_refund(refund_id text, payment_id text, account_id text, asked numeric)
returns numeric language plpgsql as $$
declare
  cent constant numeric := 10000000000;
  wallet_id constant text := 'money:' || account_id;
  pay payments%rowtype;
  before numeric;
  amount numeric;
begin
  select * into pay from payments where id = payment_id and account = account_id for no key update;
  if not found or pay.state <> 'captured' then return null; end if;
  select posted into strict before from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  select div(least(l.remaining, w.posted - w.reserved), cent) * cent into amount
    from lots l join wallets w on w.id = l.wallet where l.id = pay.lot;
  if amount < coalesce(asked, cent) then return null; end if;
  amount := coalesce(asked, amount);
  update lots set remaining = remaining - amount where id = pay.lot;
  perform transfer(wallet_id, 'operator:refunds:' || money_unit(account_id), amount, 'refund', pay.id);
  insert into payment_refunds (id, payment, amount_pusd, state, created_at)
    values (refund_id, pay.id, amount, 'pending', ledger_now());
  perform note_balance(wallet_id, before);
  return amount;
end $$;

-- A refund of ours is done, or its money comes back to its lot. A refund that the processor's own pages made takes what
-- the account has left of it, as a dispute does.
create or replace function payment_refunded(pay payments, fact jsonb) returns boolean language plpgsql as $$
declare
  wallet_id constant text := 'money:' || pay.account;
  money constant text := money_unit(pay.account);
  refund payment_refunds%rowtype;
begin
  select * into refund from payment_refunds where payment = pay.id
    and (id = fact ->> 'refund' or reference = fact ->> 'refund_reference') for no key update;
  if not found then
    return fact ->> 'type' = 'refunded' and fact ->> 'refund' is null and take_back(pay, (fact ->> 'pusd')::numeric)
      is not null;
  end if;
  if refund.state <> 'pending' then return false; end if;
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  if fact ->> 'type' = 'refunded' then
    perform transfer('operator:refunds:' || money, 'operator:funds:' || money, refund.amount_pusd, 'refunded', pay.id);
  else
    perform transfer('operator:refunds:' || money, wallet_id, refund.amount_pusd, 'refund_returned', pay.id);
    update lots set remaining = remaining + refund.amount_pusd where id = pay.lot;
  end if;
  update payment_refunds set state = case fact ->> 'type' when 'refunded' then 'succeeded' else 'failed' end,
    reference = coalesce(reference, fact ->> 'refund_reference') where id = refund.id;
  return true;
end $$;

-- Money of a payment that is no longer ours: it is the operator's loss until the account gives back what it has left,
-- at once and as leases return. Returns the lot that is given back.
create or replace function take_back(pay payments, amount numeric) returns bigint language plpgsql as $$
declare
  wallet_id constant text := 'money:' || pay.account;
  loss constant text := 'operator:loss:' || money_unit(pay.account);
  of_lot lots%rowtype;
  part numeric;
  made bigint;
begin
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  select * into strict of_lot from lots where id = pay.lot;
  perform transfer(loss, of_lot.source, amount, 'taken_back', pay.id);
  part := least(of_lot.remaining, amount);
  update lots set remaining = remaining - part where id = of_lot.id;
  insert into lots (wallet, source, kind, priority, remaining, expires_at, created_at, reference)
    values (wallet_id, loss, of_lot.kind, of_lot.priority, part, ledger_now(), of_lot.created_at, of_lot.reference)
    returning id into made;
  perform expire_wallet(wallet_id);
  return made;
end $$;

create or replace function payment_disputed(pay payments, amount numeric) returns boolean language plpgsql as $$
declare
  made constant bigint := take_back(pay, amount);
begin
  update payments set state = 'disputed', dispute_pusd = amount, dispute_lot = made, changed_at = ledger_now()
    where id = pay.id;
  perform raise_alarm('payment_disputed', jsonb_build_object('payment', pay.id, 'account', pay.account,
    'pusd', amount::text));
  return true;
end $$;

-- The bank gives the money again: the account gets what was taken of it, the operator the rest.
create or replace function payment_dispute_won(pay payments) returns boolean language plpgsql as $$
declare
  wallet_id constant text := 'money:' || pay.account;
  money constant text := money_unit(pay.account);
  loss constant text := 'operator:loss:' || money;
  taken numeric;
begin
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  select coalesce(sum(t.amount), 0) into taken from transfers t
    where t.reference = pay.id and t.kind = 'expired' and t.debit = wallet_id and t.credit = loss and t.id > (
      select max(b.id) from transfers b where b.reference = pay.id and b.kind = 'taken_back');
  perform transfer('operator:funds:' || money, loss, pay.dispute_pusd, 'dispute_won', pay.id);
  perform transfer(loss, wallet_id, taken, 'dispute_won', pay.id);
  update lots set remaining = remaining + taken, expires_at = null, source = 'operator:funds:' || money
    where id = pay.dispute_lot;
  update payments set state = 'captured', dispute_pusd = null, dispute_lot = null, changed_at = ledger_now()
    where id = pay.id;
  return true;
end $$;

-- A way to pay is ready, could not be made, or was taken away.
create or replace function payment_method_fact(of_processor text, fact jsonb) returns text language plpgsql as $$
begin
  update payment_methods set setup = coalesce(setup, fact ->> 'setup'),
    reference = coalesce(fact ->> 'method', reference),
    label = coalesce(fact ->> 'label', label),
    state = case fact ->> 'type' when 'method_ready' then 'active' when 'method_failed' then 'failed' else 'removed' end
  where processor = of_processor and state <> 'removed'
    and ((id = fact ->> 'card' or setup = fact ->> 'setup') and state = 'pending'
      or fact ->> 'type' = 'method_removed' and reference = fact ->> 'method');
  return case when found then 'applied' else 'ignored' end;
end $$;

-- Begins the automatic top-ups that are due: below the mark, within the month's most, with a method that works and
-- none under way. A decline is tried again after a day; three in a row stop them.
create or replace function begin_automatic(of_processor text, of_env text, batch integer) returns setof text
language sql as $$
  insert into payments (id, account, processor, kind, amount_pusd, method, state, created_at, changed_at)
  select new_id('pay', ledger_now()), s.account, of_processor, 'automatic', s.auto_amount_pusd, m.id, 'created',
    ledger_now(), ledger_now()
  from payment_accounts s
  join accounts a on a.id = s.account and a.env = of_env
  join wallets w on w.id = 'money:' || s.account and w.posted < s.auto_below_pusd
  join lateral (select id from payment_methods where account = s.account and processor = of_processor
    and state = 'active' order by id desc limit 1) m on true
  where s.auto_amount_pusd is not null and s.auto_failures < 3
    and not exists (select from payments p where p.account = s.account and p.kind = 'automatic'
      and (p.state in ('created', 'requires_action')
        or p.state = 'failed' and p.created_at > ledger_now() - interval '1 day'))
    and s.auto_amount_pusd + (select coalesce(sum(p.amount_pusd), 0) from payments p
      where p.account = s.account and p.kind = 'automatic' and p.state <> 'failed'
        and p.created_at >= date_trunc('month', ledger_now(), 'UTC')) <= s.auto_month_pusd
  order by s.account limit batch
  returning id
$$;

-- Sets the mark of balance.low. A balance well above it arms the event again.
create or replace function set_low_water(account_id text, mark numeric) returns void language plpgsql as $$
begin
  perform from log_head for update;
  update accounts a set low_water_pusd = mark, low_water_armed = low_water_armed
    or coalesce((select posted from wallets where id = 'money:' || a.id), 0) >= mark * 1.1
  where a.id = account_id;
end $$;
