-- Deployments of description files, and the resources that stacks have.
create table deployments (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  stack text not null,
  -- The name of the description file, for messages.
  file text not null,
  -- The request that asked for it: its changes are in the audit log as that token's.
  token text collate "C" not null,
  request text not null,
  status text not null default 'running' check (status in ('running', 'done', 'failed')),
  plan text not null,
  allows_deletion boolean not null,
  -- Description, variables and files, encrypted by a key of the data folder. Null once it has ended.
  sealed_input text,
  outputs jsonb not null default '[]',
  created_at timestamptz not null,
  ended_at timestamptz
);
create index deployments_by_account on deployments (account, id desc);
create unique index deployments_running on deployments (account, stack) where status = 'running';

create table deployment_steps (
  deployment text collate "C" not null references deployments (id) on delete cascade,
  place integer not null,
  address text not null,
  kind text not null,
  name text not null,
  action text not null,
  line integer,
  "column" integer,
  changes jsonb not null,
  notes jsonb not null,
  -- Addresses of steps that must be done before.
  needs text[] not null,
  status text not null default 'waiting' check (status in ('waiting', 'running', 'done', 'failed', 'skipped')),
  resource text,
  outputs jsonb not null default '{}',
  fault jsonb,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (deployment, place)
);

create table stack_resources (
  account text collate "C" not null references accounts (id),
  stack text not null,
  address text not null,
  kind text not null,
  name text not null,
  resource text not null,
  -- Addresses of resources that it needs.
  needs text[] not null,
  -- Its attributes as the last deployment left them; hidden ones as keyed digests. Null while that runs.
  applied jsonb,
  primary key (account, stack, address)
);
create index stack_resources_by_resource on stack_resources (account, kind, resource);
