-- Versions of all kinds of resources are numbered, wanted, live and failed in one table.
insert into resource_versions (resource, version, failure, created_at)
  select function, version, failure, created_at from function_versions;
update resources n set version = f.version, live_version = f.live_version from functions f where f.id = n.id;
alter table function_versions drop constraint function_versions_function_fkey, drop column failure, drop column created_at,
  add foreign key (function, version) references resource_versions on delete cascade;
alter table functions drop column version, drop column live_version;
