-- Versions of resources: which one is wanted, which one answers, and which failed.

-- A change of the versions of a resource holds the resource's row, so that no version goes that another change is about to
-- want.

-- Adds the next version, which is wanted from now on, and forgets those before the newest `kept`, except the live one. Returns
-- its number.
create or replace function add_version(of_id text, kept int) returns int language plpgsql as $$
declare
  made int;
  live int;
begin
  perform from resources where id = of_id for update;
  made := 1 + coalesce((select max(version) from resource_versions where resource = of_id), 0);
  insert into resource_versions (resource, version, created_at) values (of_id, made, ledger_now());
  update resources set version = made where id = of_id returning live_version into live;
  delete from resource_versions where resource = of_id and version <= made - kept and version is distinct from live;
  return made;
end $$;

-- Makes a version that started the live one. Returns the one before, 0 where none was; null where another is wanted by now.
create or replace function make_version_live(of_id text, of_version int) returns int language plpgsql as $$
declare
  was resources;
begin
  select * into was from resources where id = of_id for update;
  if was.version is distinct from of_version then return null; end if;
  update resources set live_version = of_version where id = of_id;
  return coalesce(was.live_version, 0);
end $$;

-- Records why a version cannot be started: it is not tried again.
create or replace function fail_version(of_id text, of_version int, why text) returns void language sql as $$
  update resource_versions set failure = why where resource = of_id and version = of_version
$$;

-- Makes an earlier version wanted again: one that is named, also if it failed before, or the last before the live one that
-- did not fail; none of `without`. Null where there is none.
create or replace function roll_back_version(of_id text, to_version int, without int[] default '{}') returns int
language plpgsql as $$
declare
  was resources;
  found_version int;
begin
  select * into was from resources where id = of_id for update;
  found_version := (
    select max(v.version) from resource_versions v
    where v.resource = of_id and v.version <> all (without) and case when to_version is null
      then v.version < coalesce(was.live_version, was.version) and v.failure is null else v.version = to_version end);
  if found_version is null then return null; end if;
  update resource_versions set failure = null where resource = of_id and version = found_version;
  update resources set version = found_version where id = of_id;
  perform want_resource(of_id, 'deployed');
  return found_version;
end $$;
