-- Energy budgets by the day. A tick makes the wallet of a day when the wallet is first wanted, and fits it to the
-- budget. A raised budget puts energy in. A lowered one takes out the energy that no lease reserves, again at each tick.

create or replace function budget_day(budget_id text, at timestamptz) returns text language sql immutable as $$
  select 'budget:' || budget_id || ':' || to_char(at at time zone 'UTC', 'YYYY-MM-DD')
$$;

-- Sets a budget, or removes it by null. Takes effect on the present day too.
create or replace function set_budget(budget_id text, account_id text, per_day_nj numeric) returns void
language plpgsql as $$
declare
  wallet_id constant text := budget_day(budget_id, ledger_now());
begin
  perform from wallets where id = wallet_id for no key update;
  perform from log_head for update;
  if per_day_nj is null then
    delete from budgets where id = budget_id;
  else
    insert into budgets (id, account, nj_per_day) values (budget_id, account_id, per_day_nj)
    on conflict (id) do update set nj_per_day = excluded.nj_per_day;
    perform fit_budget(wallet_id);
  end if;
  perform pg_notify('ergon_budgets', budget_id);
end $$;

-- Brings the wallet of a day to its budget. The wallet and log_head are locked.
create or replace function fit_budget(wallet_id text) returns void language plpgsql as $$
declare
  day budget_days%rowtype;
  wallet wallets%rowtype;
  wanted numeric;
  change numeric;
begin
  select d.* into day from budget_days d where d.wallet = wallet_id;
  select nj_per_day into wanted from budgets where id = day.budget;
  if wanted is null or wanted = day.granted_nj then return; end if;
  select * into strict wallet from wallets where id = wallet_id;
  change := greatest(wanted - day.granted_nj, wallet.reserved - wallet.posted);
  if change > 0 then
    perform transfer('operator:budget', wallet_id, change, 'budget');
  else
    perform transfer(wallet_id, 'operator:budget', -change, 'budget');
  end if;
  update budget_days set granted_nj = day.granted_nj + change, is_exceeded = is_exceeded and change <= 0,
    is_warned = is_warned and (day.granted_nj - wallet.posted) * 5 >= wanted * 4
  where budget_days.wallet = wallet_id;
end $$;

-- Tells once a day of a budget of which four fifths are used.
create or replace function note_budget(wallet_id text) returns void language plpgsql as $$
declare
  used record;
begin
  select d.budget, b.account, b.nj_per_day, d.granted_nj - w.posted as nj into used
    from budget_days d join budgets b on b.id = d.budget join wallets w on w.id = d.wallet
    where d.wallet = wallet_id and not d.is_warned;
  if not found or used.nj * 5 < used.nj_per_day * 4 then return; end if;
  update budget_days set is_warned = true where wallet = wallet_id;
  perform emit_event(used.account, 'energy_budget.warning', jsonb_build_object('resource_id', used.budget,
    'budget_nj', used.nj_per_day::text, 'used_nj', used.nj::text));
end $$;

-- Tells once a day, and again after a raise, that what a budget limits was stopped by it.
create or replace function note_exceeded(budget_id text) returns void language plpgsql as $$
declare
  wallet_id constant text := budget_day(budget_id, ledger_now());
  used record;
begin
  perform from log_head for update;
  select b.account, b.nj_per_day, d.is_warned, d.granted_nj - w.posted as nj into used
    from budget_days d join budgets b on b.id = d.budget join wallets w on w.id = d.wallet
    where d.wallet = wallet_id and not d.is_exceeded;
  if not found then return; end if;
  if not used.is_warned then
    perform emit_event(used.account, 'energy_budget.warning', jsonb_build_object('resource_id', budget_id,
      'budget_nj', used.nj_per_day::text, 'used_nj', used.nj::text));
  end if;
  update budget_days set is_warned = true, is_exceeded = true where wallet = wallet_id;
  perform emit_event(used.account, 'energy_budget.exceeded', jsonb_build_object('resource_id', budget_id,
    'budget_nj', used.nj_per_day::text, 'used_nj', used.nj::text));
end $$;

-- The energy that is charged of a budget today.
create or replace function budget_used_nj(budget_id text) returns numeric language sql stable as $$
  select coalesce((select d.granted_nj - w.posted from budget_days d join wallets w on w.id = d.wallet
    where d.wallet = budget_day(budget_id, ledger_now())), 0)
$$;
