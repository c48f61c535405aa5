-- The life of a payment. Money moves only by payment_fact(): what a processor told in a verified webhook, or when it was
-- asked. Locks: account (account-lock.sql), payment, wallet, log_head, all else.

-- The processor or the payer has the next step, and no money is here.
create or replace function payment_under_way(state text) returns boolean language sql immutable as $$
  select state in ('created', 'requires_action')
$$;

-- The same, and authorisations: the states of the index payments_open.
create or replace function payment_open(state text) returns boolean language sql immutable as $$
  select state in ('created', 'requires_action', 'authorized')
$$;

-- It ended, and no money came of it.
create or replace function payment_came_to_nothing(state text) returns boolean language sql immutable as $$
  select state in ('failed', 'voided', 'expired')
$$;

-- Begins a payment. Null where the account has too many that are under way, or a hold already.
create or replace function begin_payment(payment_id text, of_account text, of_processor text, of_kind text,
  amount numeric, of_method text, open_max integer) returns text language plpgsql as $$
declare
  made text;
begin
  perform lock_account(of_account);
  insert into payments (id, account, processor, kind, amount_pusd, method, state, created_at, changed_at)
    select payment_id, of_account, of_processor, of_kind, amount, of_method, 'created', ledger_now(), ledger_now()
    where (select count(*) from payments where account = of_account and payment_under_way(state)) < open_max
      and (of_kind <> 'hold' or not exists (select from payments where account = of_account and kind = 'hold'
        and not payment_came_to_nothing(state)))
    -- An automatic one is under way.
    on conflict do nothing returning id into made;
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
  -- The answer to our own call, which says whose it is, may still come.
  delete from payment_facts where processor = of_processor and id = fact ->> 'id' and result = 'not_ours';
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
  is_open constant boolean := payment_under_way(pay.state) or pay.state = 'failed';
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
    when 'refund_pending' then
      -- The processor has our call, whose answer may be lost.
      update payment_refunds set reference = coalesce(reference, fact ->> 'refund_reference')
        where id = fact ->> 'refund' and payment = pay.id and state = 'pending';
      return found;
    when 'refunded', 'refund_failed' then
      return payment_refunded(pay, fact);
    when 'disputed', 'dispute_won' then
      return payment_claimed(pay, fact, 'dispute', fact ->> 'dispute');
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
  perform settle_claims(pay.id) from payment_claims where payment = pay.id limit 1;
  return true;
end $$;

create or replace function payment_ended(pay payments, outcome text, why text) returns boolean language plpgsql as $$
begin
  if pay.state = 'authorized' and outcome <> 'failed' then
    perform void_pending(pay.id);
  elsif not payment_under_way(pay.state) then
    -- A second word of the same refusal has nothing to add.
    return false;
  end if;
  update payments set state = outcome, reason = why, action = null, changed_at = ledger_now() where id = pay.id;
  update payment_accounts set auto_failures = auto_failures + 1
    where account = pay.account and pay.kind = 'automatic' and outcome = 'failed';
  return true;
end $$;

-- Takes up to an amount out of the lots that a captured payment brought; returns what there was. The wallet is locked.
create or replace function take_from_lots(pay payments, wanted numeric) returns numeric language plpgsql as $$
declare
  missing numeric := wanted;
  part numeric;
  lot lots%rowtype;
begin
  for lot in select * from lots where reference = pay.id and wallet = 'money:' || pay.account
    and source = 'operator:funds:' || money_unit(pay.account) and remaining > 0 order by id
  loop
    part := least(lot.remaining, missing);
    update lots set remaining = remaining - part where id = lot.id;
    missing := missing - part;
  end loop;
  return wanted - missing;
end $$;

-- The part of a payment that can be given back: it is not spent and not reserved, in whole cents.
create or replace function refundable(payment_id text) returns numeric language sql stable as $$
  select div(least(coalesce(sum(l.remaining), 0), w.posted - w.reserved), 10000000000) * 10000000000
    from payments p join wallets w on w.id = 'money:' || p.account
      left join lots l on l.wallet = w.id and l.reference = p.id
        and l.source = 'operator:funds:' || money_unit(p.account)
    where p.id = payment_id and p.state = 'captured' group by w.id
$$;

-- Sets money of a payment aside for a refund; without an amount all that can be given back. Returns the amount, or
-- null where there is less.
create or replace function begin_refund(refund_id text, payment_id text, account_id text, asked numeric)
returns numeric language plpgsql as $$
declare
  cent constant numeric := 10000000000;
  wallet_id constant text := 'money:' || account_id;
  money constant text := money_unit(account_id);
  pay payments%rowtype;
  before numeric;
  amount numeric;
begin
  select * into pay from payments where id = payment_id and account = account_id for no key update;
  if not found or pay.state <> 'captured' then return null; end if;
  select posted into strict before from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  amount := refundable(pay.id);
  if amount < coalesce(asked, cent) then return null; end if;
  amount := coalesce(asked, amount);
  perform take_from_lots(pay, amount);
  perform transfer(wallet_id, 'operator:refunds:' || money, amount, 'refund', refund_id);
  insert into payment_refunds (id, payment, amount_pusd, state, created_at)
    values (refund_id, pay.id, amount, 'pending', ledger_now());
  perform note_balance(wallet_id, before);
  return amount;
end $$;

-- A refund of ours is done, or its money comes back to the account. A bank may also refuse what was done.
create or replace function payment_refunded(pay payments, fact jsonb) returns boolean language plpgsql as $$
declare
  wallet_id constant text := 'money:' || pay.account;
  money constant text := money_unit(pay.account);
  is_done constant boolean := fact ->> 'type' = 'refunded';
  refund payment_refunds%rowtype;
begin
  select * into refund from payment_refunds where payment = pay.id
    and (id = fact ->> 'refund' or reference = fact ->> 'refund_reference') for no key update;
  if not found then return payment_claimed(pay, fact, 'refund', fact ->> 'refund_reference'); end if;
  if refund.state = 'failed' or refund.state = 'succeeded' and is_done then return false; end if;
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  update payment_refunds set state = case when is_done then 'succeeded' else 'failed' end,
    reference = coalesce(reference, fact ->> 'refund_reference') where id = refund.id;
  if is_done then
    perform transfer('operator:refunds:' || money, 'operator:funds:' || money, refund.amount_pusd, 'refunded', refund.id);
  else
    perform transfer(case refund.state when 'pending' then 'operator:refunds:' else 'operator:funds:' end || money,
      wallet_id, refund.amount_pusd, 'refund_returned', refund.id);
    update lots set remaining = remaining + refund.amount_pusd where id = pay.lot;
    perform arm_low_water(pay.account);
    perform settle_claims(pay.id);
  end if;
  return true;
end $$;

-- The processor took money of a payment unasked, or gave it again. Each claim is taken once and returned once, whatever
-- the order of the facts.
create or replace function payment_claimed(pay payments, fact jsonb, of_kind text, claim_id text)
returns boolean language plpgsql as $$
declare
  is_return constant boolean := fact ->> 'type' in ('dispute_won', 'refund_failed');
begin
  insert into payment_claims (id, payment, kind, amount_pusd, state, created_at)
    values (coalesce(claim_id, fact ->> 'id'), pay.id, of_kind, coalesce((fact ->> 'pusd')::numeric, pay.amount_pusd),
      case when is_return then 'returned' else 'told' end, ledger_now())
    on conflict do nothing;
  if found and not is_return then
    perform settle_claims(pay.id);
    return true;
  end if;
  return not found and is_return and claim_returned(pay, claim_id);
end $$;

-- Takes the claims of a captured payment: each is the operator's loss until the account gives back what it has left of
-- the payment, at once and as leases return.
create or replace function settle_claims(payment_id text) returns void language plpgsql as $$
declare
  pay payments%rowtype;
  wallet_id text;
  loss text;
  claim payment_claims%rowtype;
begin
  select * into strict pay from payments where id = payment_id;
  if pay.state not in ('captured', 'disputed') then return; end if;
  wallet_id := 'money:' || pay.account;
  loss := 'operator:loss:' || money_unit(pay.account);
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  for claim in select * from payment_claims where payment = pay.id and state <> 'returned' order by created_at, id loop
    if claim.state = 'told' then claim := take_claim(pay, claim); end if;
    update lots set remaining = remaining + take_from_lots(pay,
      claim.amount_pusd - remaining - claim_given(claim.id, wallet_id, loss)) where id = claim.lot;
  end loop;
  perform expire_wallet(wallet_id);
  update payments set changed_at = ledger_now(), state = case state when 'captured' then 'disputed' else 'captured' end
    where id = pay.id and (state = 'disputed') <> exists (select from payment_claims c
      where c.payment = pay.id and c.kind = 'dispute' and c.state = 'taken');
end $$;

create or replace function take_claim(pay payments, claim payment_claims) returns payment_claims language plpgsql as $$
declare
  money constant text := money_unit(pay.account);
begin
  perform transfer('operator:loss:' || money, 'operator:funds:' || money, claim.amount_pusd, 'taken_back', claim.id);
  insert into lots (wallet, source, kind, priority, remaining, expires_at, created_at, reference)
    select wallet, 'operator:loss:' || money, kind, priority, 0, ledger_now(), created_at, claim.id
    from lots where id = pay.lot
    returning id into strict claim.lot;
  update payment_claims set state = 'taken', lot = claim.lot where id = claim.id;
  if claim.kind = 'dispute' then
    perform raise_alarm('payment_disputed', jsonb_build_object('payment', pay.id, 'account', pay.account,
      'pusd', claim.amount_pusd::text, 'claim', claim.id));
  end if;
  return claim;
end $$;

-- The part of a claim that the account has given.
create or replace function claim_given(claim_id text, wallet_id text, loss text) returns numeric language sql stable as $$
  select coalesce(sum(amount), 0) from transfers
  where reference = claim_id and kind = 'expired' and debit = wallet_id and credit = loss
$$;

-- The money of a claim is ours again: the account gets its own part, the operator the rest. Other claims come before
-- it.
create or replace function claim_returned(pay payments, claim_id text) returns boolean language plpgsql as $$
declare
  wallet_id constant text := 'money:' || pay.account;
  funds constant text := 'operator:funds:' || money_unit(pay.account);
  loss constant text := 'operator:loss:' || money_unit(pay.account);
  claim payment_claims%rowtype;
  given numeric;
begin
  select * into claim from payment_claims where id = claim_id and payment = pay.id and state <> 'returned';
  if not found then return false; end if;
  update payment_claims set state = 'returned' where id = claim.id;
  if claim.state = 'told' then return true; end if;
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  given := claim_given(claim.id, wallet_id, loss);
  perform transfer(funds, loss, claim.amount_pusd, claim.kind || '_reversed', claim.id);
  perform transfer(loss, wallet_id, given, case claim.kind when 'dispute' then 'dispute_won' else 'refund_returned' end,
    claim.id);
  update lots set remaining = remaining + given, expires_at = null, source = funds, reference = pay.id
    where id = claim.lot;
  perform arm_low_water(pay.account);
  perform settle_claims(pay.id);
  return true;
end $$;

-- A way to pay is ready, could not be made, or was taken away.
create or replace function payment_method_fact(of_processor text, fact jsonb) returns text language plpgsql as $$
begin
  -- Its payer gave it although it was removed.
  update payment_methods set reference = fact ->> 'method', to_forget = true
  where fact ->> 'type' = 'method_ready' and processor = of_processor and state = 'removed'
    and (id = fact ->> 'card' or setup = fact ->> 'setup');
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
-- none under way. One that brought nothing is tried again after a day; three declines in a row stop them. An account that
-- never had money has no wallet yet. A suspended account cannot use the money.
create or replace function begin_automatic(of_processor text, of_env text, batch integer)
returns setof payments language sql as $$
  insert into payments (id, account, processor, kind, amount_pusd, method, state, created_at, changed_at)
  select new_id('pay', ledger_now()), s.account, of_processor, 'automatic', s.auto_amount_pusd, m.id, 'created',
    ledger_now(), ledger_now()
  from payment_accounts s
  join accounts a on a.id = s.account and a.env = of_env
  left join wallets w on w.id = 'money:' || s.account
  join lateral (select id from payment_methods where account = s.account and processor = of_processor
    and state = 'active' order by id desc limit 1) m on true
  where s.auto_amount_pusd is not null and s.auto_failures < 3 and coalesce(w.posted, 0) < s.auto_below_pusd
    and not exists (select from account_deletions d where d.account = s.account)
    and not exists (select from account_suspensions u where u.account = s.account)
    and not exists (select from payments p where p.account = s.account and p.kind = 'automatic'
      and (payment_under_way(p.state)
        or payment_came_to_nothing(p.state) and p.created_at > ledger_now() - interval '1 day'))
    and s.auto_amount_pusd + (select coalesce(sum(p.amount_pusd), 0) from payments p
      where p.account = s.account and p.kind = 'automatic' and not payment_came_to_nothing(p.state)
        and p.created_at >= date_trunc('month', ledger_now(), 'UTC')) <= s.auto_month_pusd
  order by s.account limit batch for no key update of s skip locked
  on conflict do nothing
  returning *
$$;

-- Sets the mark of balance.low. A balance well above it arms the event again.
create or replace function set_low_water(account_id text, mark numeric) returns void language plpgsql as $$
begin
  perform from log_head for update;
  update accounts set low_water_pusd = mark where id = account_id;
  perform arm_low_water(account_id);
end $$;
