-- Resources of accounts that the node keeps running: databases, later workloads and functions. One table and one state
-- machine for all kinds; each kind keeps its own columns in a table of its product.
create table resources (
  id text collate "C" primary key,
  kind text not null,
  account text collate "C" not null references accounts (id),
  name text not null,
  region text not null,
  -- The state that the account asked for, and the state that is reached.
  desired text not null default 'deployed' check (desired in ('deployed', 'suspended', 'deleted')),
  actual text not null default 'pending'
    check (actual in ('pending', 'deploying', 'deployed', 'suspended', 'failed', 'deleted')),
  -- Why the actual state is not the desired one, in words.
  reason text,
  -- The energy budget that limits the resource.
  budget_wallet text collate "C" references wallets (id),
  -- Grows with each change of what the account asked for; and the one that the actual state is of.
  revision bigint not null default 1,
  reached_revision bigint not null default 0,
  created_at timestamptz not null,
  changed_at timestamptz not null
);
-- A name is free again once its resource is deleted.
create unique index resources_by_name on resources (account, kind, name) where desired <> 'deleted';
create index resources_unsettled on resources (kind, id) where actual <> desired or reached_revision < revision;
