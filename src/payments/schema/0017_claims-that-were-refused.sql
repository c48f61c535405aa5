-- Claims of transfers that were refused, or that no block has yet, of the last day: an account may be refused so many.
create table refused_claims (
  account text collate "C" not null references accounts (id),
  network text collate "C" not null,
  transaction text collate "C" not null,
  at timestamptz not null,
  primary key (account, network, transaction)
);
create index refused_claims_by_time on refused_claims (at);
-- One refund, one name at the processor or one transfer of tokens.
create unique index payment_refunds_by_reference on payment_refunds (reference) where reference is not null;
