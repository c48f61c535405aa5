-- The reason why the money of an account whose deletion has begun cannot be given back yet: payments under way, work and
-- stored bytes that are not charged, refunds on their way. Null: there is none.
create or replace function leave_waits(of_account text) returns text language sql stable as $$
  select case
    when exists (select from payments where account = of_account
      and payment_open(state)) then 'payments are under way'
    when exists (select from standing_samples where account = of_account) then 'stored bytes are not charged yet'
    when exists (select from wallets where reserved > 0
      and (id = 'money:' || of_account or id like 'free:' || of_account || ':%')) then 'running work holds money'
    when exists (select from payment_refunds r join payments p on p.id = r.payment
      where p.account = of_account and r.state = 'pending') then 'refunds are under way' end
$$;

-- Ends the money that no payment brought: points, promotions, test money, and less than a cent of the rest. Money that no
-- card takes back stays on the account, as a debt of the operator with an alarm.
create or replace function leave_money(of_account text) returns void language plpgsql as $$
declare
  cent constant numeric := 10000000000;
  wallet_id constant text := 'money:' || of_account;
  owed numeric;
begin
  perform from wallets where id = wallet_id for no key update;
  if not found then return; end if;
  perform from log_head for update;
  update lots set expires_at = ledger_now()
    where wallet = wallet_id and remaining > 0 and (kind <> 'funds' or remaining < cent);
  perform expire_wallet(wallet_id);
  select posted into strict owed from wallets where id = wallet_id;
  if owed > 0 then
    perform raise_alarm('account_money_left', jsonb_build_object('account', of_account, 'pusd', owed::text), of_account);
  end if;
end $$;
