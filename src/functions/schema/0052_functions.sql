-- Functions of accounts. Their names and states are rows of `resources`.
create table functions (
  id text collate "C" primary key references resources (id),
  account text collate "C" not null references accounts (id),
  -- Null once it is deleted.
  route text,
  -- The version that is wanted, and the one that answers.
  version integer not null,
  live_version integer
);
create unique index functions_by_route on functions (account, route) where route is not null;

create table function_versions (
  function text collate "C" not null references functions (id),
  version integer not null,
  route text not null,
  runtime text not null,
  memory_bytes bigint not null,
  timeout_s integer not null,
  env_names text[] not null,
  -- Variables as JSON, encrypted by a key of the data folder.
  sealed_env text not null,
  file text not null,
  source text not null,
  -- Why it could not be started: it is not tried again.
  failure text,
  created_at timestamptz not null,
  primary key (function, version)
);

create table function_logs (
  seq bigint generated always as identity,
  function text collate "C" not null references functions (id),
  at timestamptz not null,
  request text,
  level text not null,
  text text not null,
  primary key (function, seq)
);
