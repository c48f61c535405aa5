-- Versions of the resources that have some. Their settings are rows of their products.
create table resource_versions (
  resource text collate "C" not null references resources (id),
  version integer not null,
  -- Why it did not start or become ready: it is not tried again.
  failure text,
  created_at timestamptz not null,
  primary key (resource, version)
);
-- The version that is wanted, and the one that answers.
alter table resources add column version integer, add column live_version integer;
