-- Vouchers: points that an account redeems once.

-- Redeems a voucher. Null where no voucher has the code, or for money of another kind than the account's; `redeemed`
-- is false where it was redeemed before or can be redeemed no longer.
create or replace function redeem_voucher(account_id text, hash bytea)
returns table (id text, redeemed boolean, amount_pusd numeric, expires_at timestamptz) language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  found_one vouchers%rowtype;
  lot lots%rowtype;
begin
  select v.* into found_one from vouchers v join accounts a on a.env = v.env
    where v.code_hash = hash and a.id = account_id for no key update of v;
  if not found then return; end if;
  if found_one.redeemed_at is not null or found_one.redeemable_until <= now_at then
    return query select found_one.id, false, found_one.amount_pusd, null::timestamptz;
    return;
  end if;
  lot.kind := found_one.kind;
  lot.priority := found_one.priority;
  lot.remaining := found_one.amount_pusd;
  lot.expires_at := now_at + make_interval(days => found_one.lives_days);
  lot.source := 'operator:promotion:' || money_unit(account_id);
  lot.reference := found_one.id;
  update vouchers v set redeemed_at = now_at, redeemed_by = account_id where v.id = found_one.id;
  perform add_lot(account_id, lot, 'voucher');
  return query select found_one.id, true, found_one.amount_pusd, lot.expires_at;
end $$;

-- Gives an account points without a voucher.
create or replace function grant_points(grant_id text, account_id text, amount numeric, lot_kind text,
  lot_priority integer, lives_days integer)
returns void language plpgsql as $$
declare
  lot lots%rowtype;
begin
  lot.kind := lot_kind;
  lot.priority := lot_priority;
  lot.remaining := amount;
  lot.expires_at := ledger_now() + make_interval(days => lives_days);
  lot.source := 'operator:promotion:' || money_unit(account_id);
  lot.reference := grant_id;
  perform add_lot(account_id, lot, 'grant');
end $$;
