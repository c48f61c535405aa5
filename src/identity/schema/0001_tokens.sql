-- Tokens of accounts. The newest charge of a token says when the token was last used.

create table tokens (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  hash bytea not null unique,
  -- The first characters of the secret, by which people recognise the token in a list.
  hint text not null,
  name text not null,
  scope text not null check (scope in ('read', 'deploy', 'billing-admin')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- When the token was last seen in an address.
  exposed_at timestamptz
);
create index tokens_by_account on tokens (account);
