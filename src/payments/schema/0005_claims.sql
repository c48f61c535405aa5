-- Money of a payment that its processor took unasked: a dispute, or a refund made on its own pages.
create table payment_claims (
  -- At the processor.
  id text collate "C" primary key,
  payment text collate "C" not null references payments (id),
  kind text not null check (kind in ('dispute', 'refund')),
  amount_pusd numeric(38, 0) not null check (amount_pusd > 0),
  -- told: the payment is not captured yet. returned: the money is ours again.
  state text not null check (state in ('told', 'taken', 'returned')),
  -- The account's part of it, while leases reserve that.
  lot bigint references lots (id),
  created_at timestamptz not null
);
create index payment_claims_by_payment on payment_claims (payment);
alter table payments drop column dispute_pusd, drop column dispute_lot;

-- A payment that is quiet waits for its turn to be looked at.
alter table payments add column looked_at timestamptz not null default '-infinity';
-- Two that were begun at once would pass the month's most.
create unique index payments_one_automatic on payments (account)
  where kind = 'automatic' and state in ('created', 'requires_action');
