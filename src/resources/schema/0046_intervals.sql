-- When resources were awake: from the start of what runs for one to its end, each with its cause.
create table resource_intervals (
  id bigint generated always as identity primary key,
  resource text collate "C" not null references resources (id),
  from_at timestamptz not null,
  -- Null while it is awake.
  to_at timestamptz,
  woken_by text not null,
  -- The name of the role whose connection woke it.
  role text,
  slept_by text,
  check ((to_at is null) = (slept_by is null))
);
create index resource_intervals_by_resource on resource_intervals (resource, id);
create index resource_intervals_open on resource_intervals (resource) where to_at is null;
