-- Volumes of workloads: folders that outlive instances and versions.
create table workload_volumes (
  id text collate "C" primary key,
  workload text collate "C" not null references workloads (id),
  name text collate "C" not null,
  size_bytes bigint not null check (size_bytes > 0),
  -- The room on the node's disk, as the agent saw it last.
  used_bytes bigint not null default 0,
  -- The version from which on the account does not want it. It is deleted once that one answers, or a later one.
  dropped_by integer,
  created_at timestamptz not null,
  unique (workload, name)
);
-- Those that the version mounts: name, path, and the size that was asked for.
alter table workload_versions add column volumes jsonb not null default '[]';
