-- Workloads of accounts. Their names and states are rows of `resources`.
create table workloads (
  id text collate "C" primary key references resources (id),
  account text collate "C" not null references accounts (id),
  -- The version that is wanted, and the one that answers.
  version integer not null,
  live_version integer,
  scale_min integer not null check (scale_min >= 0),
  scale_max integer not null check (scale_max >= greatest(scale_min, 1)),
  sleep_after_ms integer not null,
  -- The host of its own, and those that its account asked for.
  host text not null,
  hosts text[] not null
);

create table workload_versions (
  workload text collate "C" not null references workloads (id),
  version integer not null,
  -- As the account named it; once it is pulled, the digest of its manifest, and the process that it describes.
  image text not null,
  digest text,
  config jsonb,
  port integer,
  command text[],
  env_names text[] not null,
  secret_names text[] not null,
  -- Variables as JSON, encrypted by a key of the data folder.
  sealed_env text not null,
  sealed_secrets text not null,
  cpu_milli integer not null,
  memory_bytes bigint not null,
  health jsonb,
  -- Of the pull under way.
  pull jsonb,
  -- Why it did not become ready: it is not tried again.
  failure text,
  created_at timestamptz not null,
  primary key (workload, version)
);
