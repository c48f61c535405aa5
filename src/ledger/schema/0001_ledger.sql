-- Accounts, sessions, the double-entry ledger and its books. Amounts are integers: nJ and pUSD.
-- A charge row is the posting of its energy (operator → account) and of its money (wallet → revenue);
-- `transfers` holds the movements that are not charges.

create table accounts (
  id text collate "C" primary key,
  env text not null check (env in ('live', 'test')),
  -- Funds were on file once: from then on the money wallet pays, never the free tier.
  funded boolean not null default false,
  charge_count bigint not null default 0,
  low_water_pusd numeric(38, 0) not null default 1000000000000,
  -- The low-water event fires once. A top-up above 1.1 times the mark arms the event again.
  low_water_armed boolean not null default true,
  event_count bigint not null default 0,
  created_at timestamptz not null default now(),
  -- The account refuses tokens in addresses.
  refuse_token_presign boolean not null default false
);

-- Tokens and accounts that sessions must forget. A session says the last number that the session has seen.
create table credential_changes (
  epoch bigint generated always as identity primary key,
  token text collate "C",
  account text collate "C" not null,
  at timestamptz not null default now()
);

create table sessions (
  id text collate "C" primary key,
  process text collate "C" not null,
  life integer not null,
  last_seq bigint not null default 0,
  -- A tick that a later tick overtook must not act: its leases would undo the later ones.
  last_tick bigint not null default 0,
  epoch bigint not null default 0,
  until timestamptz not null default now(),
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  unique (process, life)
);
create unique index sessions_one_open on sessions (process) where closed_at is null;

create table wallets (
  id text collate "C" primary key,
  unit text not null check (unit in ('nJ', 'USD', 'tUSD')),
  posted numeric(38, 0) not null default 0,
  reserved numeric(38, 0) not null default 0,
  -- Wallets of accounts can never be overdrawn. Wallets of the operator and of meters are the other side.
  bounded boolean not null,
  check (reserved >= 0),
  check (not bounded or reserved <= posted)
);
-- The free tier makes one wallet for each account and day, for good. The books read the wallets of past
-- days once a day.
create index wallets_by_free_day on wallets (right(id, 10)) where id like 'free:%';

create table lots (
  id bigint generated always as identity primary key,
  wallet text collate "C" not null references wallets (id),
  -- The wallet that the lot returns to when the lot expires.
  source text collate "C" not null references wallets (id),
  kind text not null check (kind in ('funds', 'test', 'points', 'promotion')),
  priority integer not null,
  remaining numeric(38, 0) not null check (remaining >= 0),
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
create index lots_by_wallet on lots (wallet, priority, expires_at, created_at, id) where remaining > 0;
create index lots_by_expiry on lots (expires_at) where remaining > 0 and expires_at is not null;

create table pending_credits (
  id text collate "C" primary key,
  wallet text collate "C" not null references wallets (id),
  lot bigint not null references lots (id),
  amount numeric(38, 0) not null check (amount > 0),
  state text not null default 'pending' check (state in ('pending', 'posted', 'voided')),
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index pending_credits_by_expiry on pending_credits (expires_at) where state = 'pending';

create table leases (
  wallet text collate "C" not null references wallets (id),
  session text collate "C" not null references sessions (id),
  amount numeric(38, 0) not null check (amount >= 0),
  primary key (wallet, session)
);
create index leases_by_session on leases (session);

-- Sessions that lately wanted more of a wallet than the leases of others left. Other sessions return what
-- they do not use.
create table shortages (
  wallet text collate "C" not null references wallets (id),
  session text collate "C" not null references sessions (id),
  at timestamptz not null,
  primary key (wallet, session)
);

create table transfers (
  id bigint generated always as identity primary key,
  debit text collate "C" not null references wallets (id),
  credit text collate "C" not null references wallets (id),
  amount numeric(38, 0) not null check (amount > 0),
  kind text not null,
  reference text not null default '',
  at timestamptz not null default now()
);
create index transfers_by_debit on transfers (debit, id);
create index transfers_by_credit on transfers (credit, id);

create table log_head (
  single boolean primary key default true check (single),
  size bigint not null
);
insert into log_head (size) values (0);

create table charges (
  session text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null unique,
  -- No foreign key: the tick joins each charge to the counter of its account, so no charge can name an
  -- account that is absent. A check of each row took a fifth of the tick.
  account text collate "C" not null,
  account_seq bigint not null,
  leaf_index bigint not null unique,
  token text collate "C",
  operation text not null,
  model text,
  status integer not null,
  energy_nj numeric(38, 0) not null,
  carbon_pg numeric(38, 0) not null,
  charge_pusd numeric(38, 0) not null,
  free boolean not null,
  to_at timestamptz not null,
  hash bytea not null,
  bytes bytea not null,
  primary key (session, seq),
  unique (account, account_seq)
);
-- The last request of a token is the request that was posted last, whatever the clock said. Ascending, so that the newest
-- entry comes at the end of its run: descending order split each page in the middle and took twice the
-- room. The numbers are the account's, not the leaves': for a token that had rested, an index over leaves
-- read the newer charges of all accounts.
create index charges_by_token on charges (token, account_seq);
create index charges_by_account_time on charges (account, to_at);

-- Records that a session wrote and nobody can read any more: their numbers hold no charge and no window.
create table lost_records (
  session text collate "C" not null,
  first_seq bigint not null,
  last_seq bigint not null check (last_seq >= first_seq),
  at timestamptz not null default now(),
  primary key (session, first_seq)
);

-- One row a second and meter, 1.2 to 1.5 kB each.
create table windows (
  session text collate "C" not null,
  seq bigint not null,
  meter text not null,
  k bigint not null,
  reading_nj numeric(38, 0) not null,
  hash bytea not null,
  bytes bytea not null,
  primary key (session, seq)
);
create index windows_by_meter on windows (meter, k);

-- Windows older than a day, summed five minutes to a row (pack_windows in windows.sql): rows of `windows`
-- would take 40 GB a year.
create table packed_windows (
  session text collate "C" not null,
  first_seq bigint not null,
  meter text not null,
  first_k bigint not null,
  last_k bigint not null,
  -- The number of windows in the sum, and the hash of their hashes in the order of their numbers.
  windows integer not null check (windows > 0),
  hash bytea not null,
  method text not null,
  band_pct integer not null,
  pue_milli integer not null,
  fallback text,
  elapsed_ns numeric(38, 0) not null,
  busy_ns numeric(38, 0) not null,
  reading_nj numeric(38, 0) not null,
  idle_nj numeric(38, 0) not null,
  charged_ns numeric(38, 0) not null,
  accrued_nj numeric(38, 0) not null,
  -- The least and the greatest tariff that was in force.
  tariff_min_nj_per_cpu_s numeric(38, 0) not null,
  tariff_max_nj_per_cpu_s numeric(38, 0) not null,
  -- Sums by name and payer, integers as text: they add up to the reading.
  shares jsonb not null,
  primary key (session, first_seq)
);
create index packed_windows_by_meter on packed_windows (meter, first_k);

create table tariffs (
  meter text primary key,
  body jsonb not null,
  at timestamptz not null default now()
);

create table prices (
  id text collate "C" primary key,
  -- At a price of nothing a hold would be nothing and would limit nothing.
  pusd_per_j numeric(38, 0) not null check (pusd_per_j > 0),
  free_tier_nj numeric(38, 0) not null check (free_tier_nj >= 0),
  since timestamptz not null default now(),
  -- The price in force is the price that was set last, whatever the clock said then.
  nth bigint generated always as identity unique
);

create table events (
  id text collate "C" primary key,
  type text not null,
  account text collate "C" not null references accounts (id),
  sequence bigint not null,
  occurred_at timestamptz not null default now(),
  data jsonb not null,
  unique (account, sequence)
);

-- One row: the result of the last reconcile, and how many charges are summed in audited_accounts.
create table books (
  single boolean primary key default true check (single),
  halted_at timestamptz,
  checked_at timestamptz,
  audited bigint not null default 0,
  past_checked_at timestamptz,
  -- Days before this day, and the sum that their wallets held.
  past_before text collate "C" not null default '',
  past_nj numeric(38, 0) not null default 0
);
insert into books default values;

create table audited_accounts (
  account text collate "C" primary key references accounts (id),
  charges bigint not null,
  energy_nj numeric(38, 0) not null,
  charge_pusd numeric(38, 0) not null
);

-- The use of each account by the hour, over the charges that the minute's audit has summed. GET /v1/usage
-- reads single charges only at the edges of its range: a month of 1 M charges took 2.3 s charge by charge
-- and takes 0.07 s so.
create table usage_hours (
  account text collate "C" not null references accounts (id),
  hour timestamptz not null,
  operation text not null,
  -- '' for none.
  model text not null,
  token text collate "C" not null,
  requests bigint not null,
  energy_nj numeric(38, 0) not null,
  -- The energy that a sensor read. The rest was modelled, or declared by an upstream.
  measured_nj numeric(38, 0) not null default 0,
  carbon_pg numeric(38, 0) not null,
  charge_pusd numeric(38, 0) not null,
  primary key (account, hour, operation, model, token)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
-- Old windows may go, by upkeep only (windows.sql). Their sums stay in the ledger.
create function refuse_unless_forgetting() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('ergon.forgets', true), '') <> 'windows' then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger charges_append_only before update or delete or truncate on charges
  for each statement execute function refuse_change();
create trigger transfers_append_only before update or delete or truncate on transfers
  for each statement execute function refuse_change();
create trigger lost_records_append_only before update or delete or truncate on lost_records
  for each statement execute function refuse_change();
create trigger windows_append_only before update or truncate on windows
  for each statement execute function refuse_change();
create trigger windows_forgotten_by_upkeep before delete on windows
  for each statement execute function refuse_unless_forgetting();
create trigger packed_windows_append_only before update or truncate on packed_windows
  for each statement execute function refuse_change();
create trigger packed_windows_forgotten_by_upkeep before delete on packed_windows
  for each statement execute function refuse_unless_forgetting();

insert into accounts (id, env) values ('nobody', 'test');
insert into wallets (id, unit, bounded) values
  ('energy:nobody', 'nJ', false),
  ('operator:energy', 'nJ', false),
  ('operator:free-tier', 'nJ', false),
  ('operator:budget', 'nJ', false),
  ('operator:funds:USD', 'USD', false),
  ('operator:funds:tUSD', 'tUSD', false),
  ('operator:pending:USD', 'USD', false),
  ('operator:pending:tUSD', 'tUSD', false),
  ('operator:loss:USD', 'USD', false),
  ('operator:loss:tUSD', 'tUSD', false),
  ('operator:loss:nJ', 'nJ', false),
  ('operator:revenue:USD', 'USD', false),
  ('operator:revenue:tUSD', 'tUSD', false);

-- Stored bytes of accounts: those of each thing at its last sample, and the energy that is due and not charged
-- yet. A kind is a product's: 'bucket', 'database'.
create table standing_samples (
  kind text not null,
  -- Without a foreign key, as its check would lock the row of the thing.
  id text collate "C" not null,
  at_ms bigint not null,
  -- May pass 2^63.
  bytes numeric not null,
  -- In zeptojoules (10⁻²¹ J), so that bytes × milliwatts × milliseconds × overhead are whole.
  due_zj numeric not null default 0,
  -- The time over which the due bytes were stored.
  due_from_ms bigint,
  due_to_ms bigint,
  -- Of a thing that was deleted while energy was due.
  name text collate "C",
  account text collate "C",
  primary key (kind, id)
) with (fillfactor = 50);
create index standing_samples_ended on standing_samples (kind, id) where account is not null;
