-- What keeps the books honest: numbered ticks, where a lot came from, budgets, and the books' own state.

create type tick_record as (seq bigint, kind integer, bytes text);

-- A tick that was overtaken by a later one must not act: its leases would undo the later ones.
alter table sessions add last_tick bigint not null default 0;

-- At a price of nothing a hold would be nothing, and nothing could be held to it.
alter table prices add constraint prices_above_zero check (pusd_per_j > 0);

insert into wallets (id, unit, bounded) values
  ('operator:budget', 'nJ', false),
  ('operator:pending:USD', 'USD', false),
  ('operator:pending:tUSD', 'tUSD', false);

-- The wallet that a lot returns to when it expires.
alter table lots add source text collate "C" references wallets (id);
update lots set source = 'operator:funds:' || w.unit from wallets w where w.id = lots.wallet;
alter table lots alter source set not null;
create index lots_by_expiry on lots (expires_at) where remaining > 0 and expires_at is not null;

alter table pending_credits add lot bigint not null references lots (id);
create index pending_credits_by_expiry on pending_credits (expires_at) where state = 'pending';

-- One row: what the last reconcile said, and how many charges are summed in audited_accounts.
create table books (
  single boolean primary key default true check (single),
  halted_at timestamptz,
  checked_at timestamptz,
  audited bigint not null default 0
);
insert into books default values;

create table audited_accounts (
  account text collate "C" primary key references accounts (id),
  charges bigint not null,
  energy_nj numeric(38, 0) not null,
  charge_pusd numeric(38, 0) not null
);

-- The tick joins each charge to its account's counter, so it cannot name one that is not there: a
-- check of each row again took a fifth of the tick.
alter table charges drop constraint charges_account_fkey;

drop function if exists tick(json);
drop function if exists tick_open_day(json, prices, timestamptz);
drop function if exists tick_post(json, sessions, timestamptz);
drop function if exists tick_debit(text, text, numeric, text, timestamptz);
drop function if exists tick_grant(json, text, timestamptz);
drop function if exists tick_append(json, sessions, bigint);
drop function if exists emit_event(text, text, jsonb, timestamptz);
drop function if exists grant_funds(text, numeric, text, int, text);
