-- Versions of all kinds of resources are numbered, wanted, live and failed in one table.
insert into resource_versions (resource, version, failure, created_at)
  select workload, version, failure, created_at from workload_versions;
update resources n set version = w.version, live_version = w.live_version from workloads w where w.id = n.id;
alter table workload_versions drop constraint workload_versions_workload_fkey, drop column failure, drop column created_at,
  add foreign key (workload, version) references resource_versions on delete cascade;
alter table workloads drop column version, drop column live_version;
