-- Energy budgets by the day. A tick makes the wallet of a day when the wallet is first wanted, and fits it to the
-- budget. A raised budget puts energy in. A lowered one takes out the energy that no lease reserves, again at each tick.
-- Energy that is charged without the budget, as before it was set, counts like a lower budget.

create or replace function budget_day(budget_id text, at timestamptz) returns text language sql immutable as $$
  select 'budget:' || budget_id || ':' || to_char(at at time zone 'UTC', 'YYYY-MM-DD')
$$;

-- The energy that the wallet of a day is given.
create or replace function budget_share(per_day_nj numeric, unlimited_nj numeric) returns numeric language sql immutable as $$
  select greatest(0, per_day_nj - unlimited_nj)
$$;

-- The energy that is charged today to the resource of a budget.
create or replace function charged_today_nj(budget_id text, limited text[]) returns numeric language sql stable as $$
  select coalesce(sum(energy_nj), 0) from charges
  where resource = budget_id and operation = any (limited) and to_at >= date_trunc('day', ledger_now(), 'UTC')
    and to_at < date_trunc('day', ledger_now(), 'UTC') + interval '1 day'
$$;

-- Sets a budget, or removes it by null. Takes effect on the present day too, and counts what was charged on it.
create or replace function set_budget(budget_id text, account_id text, per_day_nj numeric, limited text[] default '{}')
returns void language plpgsql as $$
declare
  wallet_id constant text := budget_day(budget_id, ledger_now());
begin
  if per_day_nj is not null then
    insert into wallets (id, unit, bounded) values (wallet_id, 'nJ', true) on conflict (id) do nothing;
  end if;
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  if per_day_nj is null then
    delete from budgets where id = budget_id;
  else
    insert into budgets (id, account, nj_per_day, operations) values (budget_id, account_id, per_day_nj, limited)
    on conflict (id) do update set nj_per_day = excluded.nj_per_day, operations = excluded.operations;
    insert into budget_days (wallet, budget) values (wallet_id, budget_id) on conflict (wallet) do nothing;
    update budget_days d set unlimited_nj =
      greatest(0, charged_today_nj(budget_id, limited) - (d.granted_nj - w.posted))
    from wallets w where d.wallet = wallet_id and w.id = wallet_id;
    perform fit_budget(wallet_id);
  end if;
  perform pg_notify('ergon_budgets', budget_id);
end $$;

-- Brings the wallet of a day to its budget. The wallet and log_head are locked.
create or replace function fit_budget(wallet_id text) returns void language plpgsql as $$
declare
  day budget_days%rowtype;
  wallet wallets%rowtype;
  per_day numeric;
  wanted numeric;
  change numeric;
begin
  select d.* into day from budget_days d where d.wallet = wallet_id;
  select nj_per_day into per_day from budgets where id = day.budget;
  wanted := budget_share(per_day, day.unlimited_nj);
  if wanted is null or wanted = day.granted_nj then return; end if;
  select * into strict wallet from wallets where id = wallet_id;
  change := greatest(wanted - day.granted_nj, wallet.reserved - wallet.posted);
  if change > 0 then
    perform transfer('operator:budget', wallet_id, change, 'budget');
  else
    perform transfer(wallet_id, 'operator:budget', -change, 'budget');
  end if;
  update budget_days set granted_nj = day.granted_nj + change, is_exceeded = is_exceeded and change <= 0,
    is_warned = is_warned and change <= 0 and (day.unlimited_nj + day.granted_nj - wallet.posted) * 5 >= per_day * 4
  where budget_days.wallet = wallet_id;
end $$;

-- Tells once a day, and again after a raise, of a budget of which four fifths are used.
create or replace function note_budget(wallet_id text) returns void language plpgsql as $$
declare
  used record;
begin
  select d.budget, b.account, b.nj_per_day, d.unlimited_nj + d.granted_nj - w.posted as nj into used
    from budget_days d join budgets b on b.id = d.budget join wallets w on w.id = d.wallet
    where d.wallet = wallet_id and not d.is_warned;
  if not found or used.nj * 5 < used.nj_per_day * 4 then return; end if;
  update budget_days set is_warned = true where wallet = wallet_id;
  perform emit_event(used.account, 'energy_budget.warning', jsonb_build_object('resource_id', used.budget,
    'budget_nj', used.nj_per_day::text, 'used_nj', used.nj::text));
end $$;

-- True where a budget is used up for today: its uncharged rest is less than the least use needs. Tells so once a day,
-- and again after a raise. Called when a budget has stopped something: what was stopped, or others, may still use the
-- rest.
drop function if exists note_exceeded(text);
create or replace function note_used_up(budget_id text, least_nj numeric) returns boolean language plpgsql as $$
declare
  wallet_id constant text := budget_day(budget_id, ledger_now());
  used record;
begin
  perform from log_head for update;
  if not is_budget_below(budget_id, least_nj) then return false; end if;
  select b.account, b.nj_per_day, d.is_warned, d.unlimited_nj + d.granted_nj - w.posted as nj into used
    from budget_days d join budgets b on b.id = d.budget join wallets w on w.id = d.wallet
    where d.wallet = wallet_id and not d.is_exceeded;
  if not found then return true; end if;
  if not used.is_warned then
    perform emit_event(used.account, 'energy_budget.warning', jsonb_build_object('resource_id', budget_id,
      'budget_nj', used.nj_per_day::text, 'used_nj', used.nj::text));
  end if;
  update budget_days set is_warned = true, is_exceeded = true where wallet = wallet_id;
  perform emit_event(used.account, 'energy_budget.exceeded', jsonb_build_object('resource_id', budget_id,
    'budget_nj', used.nj_per_day::text, 'used_nj', used.nj::text));
  return true;
end $$;

-- The energy that is charged of a budget today.
create or replace function budget_used_nj(budget_id text) returns numeric language sql stable as $$
  select coalesce((select d.unlimited_nj + d.granted_nj - w.posted from budget_days d join wallets w on w.id = d.wallet
    where d.wallet = budget_day(budget_id, ledger_now())), 0)
$$;

-- True where the uncharged rest of a budget is less than this energy today, whatever sessions hold of it.
create or replace function is_budget_below(budget_id text, least_nj numeric) returns boolean language sql stable as $$
  select exists (select from budgets b where b.id = budget_id and b.nj_per_day - budget_used_nj(b.id) < least_nj)
$$;

-- Counts the new charges of a session that took nothing of the budget of their resource on the day of their end, where
-- that day has one.
create or replace function count_unlimited(session_id text, after_seq bigint, debit_seqs bigint[], debit_wallets text[])
returns void language sql as $$
  update budget_days d set unlimited_nj = d.unlimited_nj + c.energy
  from (
    select budget_day(c.resource, c.to_at) as wallet, sum(c.energy_nj) as energy
    from charges c join budgets b on b.id = c.resource and c.operation = any (b.operations)
    where c.session = session_id and c.seq > after_seq and c.resource is not null
      and not exists (select from unnest(debit_seqs, debit_wallets) as t (seq, wallet)
        where t.seq = c.seq and t.wallet = budget_day(c.resource, c.to_at))
    group by 1
  ) c
  where d.wallet = c.wallet
$$;
