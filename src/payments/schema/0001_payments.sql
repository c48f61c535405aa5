-- Payments of accounts, with how they are paid and what their processors said of them. Amounts are whole pUSD.

create table payment_accounts (
  account text collate "C" primary key references accounts (id),
  -- The account at the card processor.
  customer text,
  -- Automatic top-ups; null: none.
  auto_amount_pusd numeric(38, 0) check (auto_amount_pusd > 0),
  -- Begins one when the balance is below it.
  auto_below_pusd numeric(38, 0),
  -- The most that they bring in a month of UTC.
  auto_month_pusd numeric(38, 0),
  -- Declines in a row; too many stop them.
  auto_failures integer not null default 0
);

create table payment_methods (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  processor text not null,
  -- At the processor: of the set-up that makes it, and of the method itself.
  setup text collate "C",
  reference text collate "C",
  label text not null default '',
  state text not null check (state in ('pending', 'active', 'failed', 'removed')),
  created_at timestamptz not null
);
create index payment_methods_by_account on payment_methods (account, id);
create unique index payment_methods_by_setup on payment_methods (processor, setup) where setup is not null;

create table payments (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  processor text not null,
  kind text not null check (kind in ('hold', 'topup', 'automatic', 'voucher')),
  amount_pusd numeric(38, 0) not null check (amount_pusd > 0),
  method text collate "C" references payment_methods (id),
  -- At the processor.
  reference text collate "C",
  state text not null check (state in ('created', 'requires_action', 'authorized', 'captured', 'voided', 'expired',
    'failed', 'disputed')),
  -- Why it failed, in the processor's code.
  reason text,
  -- The lot that it brought.
  lot bigint references lots (id),
  -- Of a hold: until when it can be captured.
  lives_until timestamptz,
  created_at timestamptz not null,
  changed_at timestamptz not null
);
create index payments_by_account on payments (account, id);
create unique index payments_by_reference on payments (processor, reference) where reference is not null;
create unique index payments_one_hold on payments (account)
  where kind = 'hold' and state in ('created', 'requires_action', 'authorized', 'captured', 'disputed');
create index payments_open on payments (processor, created_at)
  where state in ('created', 'requires_action', 'authorized');

create table payment_refunds (
  id text collate "C" primary key,
  payment text collate "C" not null references payments (id),
  amount_pusd numeric(38, 0) not null check (amount_pusd > 0),
  reference text collate "C",
  state text not null check (state in ('pending', 'succeeded', 'failed')),
  created_at timestamptz not null
);
create index payment_refunds_by_payment on payment_refunds (payment);
create index payment_refunds_open on payment_refunds (created_at) where state = 'pending';

-- The facts that a processor told, once each: a repetition changes nothing.
create table payment_facts (
  processor text not null,
  id text collate "C" not null,
  outcome text not null,
  at timestamptz not null,
  primary key (processor, id)
);
create index payment_facts_by_time on payment_facts (at);

-- The time up to which a processor was asked for its facts.
create table payment_cursors (
  processor text primary key,
  at timestamptz not null
);

create table vouchers (
  id text collate "C" primary key,
  -- HMAC-SHA256 of the code.
  code_hash bytea not null unique,
  env text not null check (env in ('live', 'test')),
  amount_pusd numeric(38, 0) not null check (amount_pusd > 0),
  kind text not null check (kind in ('points', 'promotion')),
  priority integer not null,
  -- Until then it can be redeemed.
  redeemable_until timestamptz,
  -- The money lives so long after it was redeemed.
  lives_days integer check (lives_days > 0),
  note text not null default '',
  created_at timestamptz not null,
  redeemed_at timestamptz,
  redeemed_by text collate "C" references accounts (id)
);
