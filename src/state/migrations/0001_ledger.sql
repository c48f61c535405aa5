-- Accounts, tokens, sessions and the double-entry ledger. Amounts are integers: nJ and pUSD.
-- A charge row is the posting of its energy (operator → account) and of its money (wallet → revenue);
-- `transfers` holds the movements that are not charges. Both are append-only.

create table accounts (
  id text collate "C" primary key,
  env text not null check (env in ('live', 'test')),
  -- Funds were on file once: from then on the money wallet pays, never the free tier.
  funded boolean not null default false,
  charge_count bigint not null default 0,
  low_water_pusd numeric(38, 0) not null default 1000000000000,
  -- The low-water event fires once and is armed again by a top-up above 1.1 times the mark.
  low_water_armed boolean not null default true,
  event_count bigint not null default 0,
  created_at timestamptz not null default now()
);

create table tokens (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  hash bytea not null unique,
  -- The first characters of the secret, to recognise it in a list.
  hint text not null,
  name text not null,
  scope text not null check (scope in ('read', 'deploy', 'billing-admin')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
  -- When it was last used is what its newest charge says.
);
create index tokens_by_account on tokens (account);

-- What a session must forget: rows are numbered, a session says the last number it has seen.
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
  -- Wallets of accounts can never be overdrawn; those of the operator and the meters are the other side.
  bounded boolean not null,
  check (reserved >= 0),
  check (not bounded or reserved <= posted)
);

create table lots (
  id bigint generated always as identity primary key,
  wallet text collate "C" not null references wallets (id),
  kind text not null check (kind in ('funds', 'test', 'points', 'promotion')),
  priority integer not null,
  remaining numeric(38, 0) not null check (remaining >= 0),
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
create index lots_by_wallet on lots (wallet, priority, expires_at, created_at, id) where remaining > 0;

create table pending_credits (
  id text collate "C" primary key,
  wallet text collate "C" not null references wallets (id),
  amount numeric(38, 0) not null check (amount > 0),
  state text not null default 'pending' check (state in ('pending', 'posted', 'voided')),
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);

create table leases (
  wallet text collate "C" not null references wallets (id),
  session text collate "C" not null references sessions (id),
  amount numeric(38, 0) not null check (amount >= 0),
  primary key (wallet, session)
);
create index leases_by_session on leases (session);

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
  account text collate "C" not null references accounts (id),
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
create index charges_by_token on charges (token, to_at desc, id desc);
create index charges_by_account_time on charges (account, to_at);

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

create table tariffs (
  meter text primary key,
  body jsonb not null,
  at timestamptz not null default now()
);

create table prices (
  id text collate "C" primary key,
  pusd_per_j numeric(38, 0) not null check (pusd_per_j >= 0),
  free_tier_nj numeric(38, 0) not null check (free_tier_nj >= 0),
  since timestamptz not null default now()
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

-- Losses of the operator that need a look: what a session posted beyond its lease.
create table alarms (
  id bigint generated always as identity primary key,
  kind text not null,
  detail jsonb not null,
  at timestamptz not null default now()
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger charges_append_only before update or delete or truncate on charges
  for each statement execute function refuse_change();
create trigger transfers_append_only before update or delete or truncate on transfers
  for each statement execute function refuse_change();
create trigger windows_append_only before update or delete or truncate on windows
  for each statement execute function refuse_change();

insert into accounts (id, env) values ('nobody', 'test');
insert into wallets (id, unit, bounded) values
  ('energy:nobody', 'nJ', false),
  ('operator:energy', 'nJ', false),
  ('operator:free-tier', 'nJ', false),
  ('operator:funds:USD', 'USD', false),
  ('operator:funds:tUSD', 'tUSD', false),
  ('operator:loss:USD', 'USD', false),
  ('operator:loss:tUSD', 'tUSD', false),
  ('operator:loss:nJ', 'nJ', false),
  ('operator:revenue:USD', 'USD', false),
  ('operator:revenue:tUSD', 'tUSD', false);
