-- Payments by stablecoin: what is to be found on the chain, and what was seen of it. Rows stay, so a transfer pays once
-- for ever. Addresses and hashes are hexadecimal in lower case.
create table stablecoin_payments (
  payment text collate "C" primary key references payments (id),
  -- By CAIP-2, such as eip155:8453.
  network text collate "C" not null,
  token text collate "C" not null,
  receiver text collate "C" not null,
  sender text collate "C" not null,
  -- In the token's own units.
  units numeric(78, 0) not null check (units > 0),
  confirmations_needed integer not null,
  -- Of an authorisation by EIP-3009; null for a transfer that the sender made.
  nonce text collate "C",
  -- In seconds; the authorisation cannot be used from then on.
  valid_before numeric(78, 0),
  -- For the facilitator, until it has answered: the authorisation with its signature.
  payload jsonb,
  -- The transaction that the facilitator told of: no proof.
  settled_as text collate "C",
  -- Where the search for the authorisation begins.
  from_block bigint not null,
  -- As it was last seen on the chain. The index is that of the log in its transaction.
  transaction text collate "C",
  log_index integer,
  block_number bigint,
  block_hash text collate "C",
  confirmations integer not null default 0,
  -- Since when the nodes give no clear answer.
  unsure_since timestamptz,
  looked_at timestamptz not null default '-infinity',
  -- Nothing can change any more.
  ended_at timestamptz,
  created_at timestamptz not null
);
create unique index stablecoin_payments_by_transfer on stablecoin_payments (network, transaction, log_index);
create unique index stablecoin_payments_by_nonce on stablecoin_payments (network, token, sender, nonce)
  where nonce is not null;
create index stablecoin_payments_watched on stablecoin_payments (looked_at) where ended_at is null;
