-- Each change of an account, with the token that asked for it. A row is written in the transaction of its change, and never
-- changed.

create table audit_entries (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  at timestamptz not null default now(),
  -- The operation, as in the API and on receipts.
  action text collate "C" not null,
  -- The token that asked; null: the operator of the service.
  token text collate "C" references tokens (id),
  request text collate "C",
  -- The id of what was changed.
  target text collate "C" not null,
  details jsonb not null
);
create index audit_entries_by_account on audit_entries (account, id);
