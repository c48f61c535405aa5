-- Deletes keys and versions: [{key, versionId, conditions}]. Returns one answer for each, in the same order. `blobs` is
-- the number of blobs that the deleted version named: 1 for bytes in its row, 0 where nothing was removed.

create or replace function storage_delete(bucket_id int, deletions jsonb, bypass boolean)
returns table (refused text, version_id text, marker boolean, blobs int)
language plpgsql set enable_seqscan = off as $$
declare
  home storage_home;
  deletion record;
  answer record;
  freed uuid[] := '{}';
  keys constant text[] := array(select d ->> 'key' from jsonb_array_elements(deletions) d);
  shows boolean;
  objects text[];
begin
  home := storage_enter(bucket_id);
  if home.id is null then return query select 'NoSuchBucket', null::text, false, 0; return; end if;
  -- In one order, so that two batches cannot deadlock.
  perform pg_advisory_xact_lock(4207711, stripe) from (
    select distinct storage_stripe(bucket_id, d ->> 'key') as stripe
    from jsonb_array_elements(deletions) d order by stripe offset 0
  ) stripes;
  objects := storage_objects_of(bucket_id, keys);
  shows := storage_shows(bucket_id, deletions);
  if shows then perform storage_lock_folders(bucket_id, keys); end if;
  for deletion in
    select d ->> 'key' as key, d ->> 'versionId' as version, d -> 'conditions' as conditions
    from jsonb_array_elements(deletions) with ordinality as listed (d, n) order by n
  loop
    if deletion.version is null then
      select * into answer from storage_delete_latest(home, deletion.key, deletion.conditions);
    else
      select * into answer from storage_delete_version(
        home, deletion.key, deletion.version, deletion.conditions, bypass);
    end if;
    freed := freed || answer.freed;
    return query select answer.refused, answer.version_id, answer.marker,
      case when answer.freed is null then 0 else greatest(1, cardinality(answer.freed)) end;
  end loop;
  if shows then
    perform storage_enter_folders(array_agg(bucket_id), array_agg(g.key), '[]')
    from unnest(storage_objects_of(bucket_id, keys)) g (key)
    having count(*) > 0;
  end if;
  if objects <> '{}' then
    perform storage_leave_folders(bucket_id, array(
      select unnest(objects) except select unnest(storage_objects_of(bucket_id, objects))));
  end if;
  if freed <> '{}' then perform storage_release(freed); end if;
end $$;

-- The keys that are objects.
create or replace function storage_objects_of(bucket_id int, keys text[]) returns text[] language plpgsql as $$
begin
  return array(
    select distinct v.key from object_versions v
    where v.bucket = bucket_id and v.key = any (keys) and v.is_latest and not v.delete_marker);
end $$;

-- True when a deletion removes the marker that hides an object.
create or replace function storage_shows(bucket_id int, deletions jsonb) returns boolean language plpgsql as $$
begin
  return exists (
    select from jsonb_array_elements(deletions) d cross join lateral (
      select v.version_id, v.delete_marker from object_versions v
      where v.bucket = bucket_id and v.key = d ->> 'key' order by v.seq desc limit 1
    ) latest
    where latest.delete_marker and latest.version_id = d ->> 'versionId');
end $$;

-- Without versioning the object is removed; with versioning a delete marker hides it. The caller releases `freed`,
-- here and below.
create or replace function storage_delete_latest(home storage_home, object_key text, conditions jsonb)
returns table (refused text, version_id text, marker boolean, freed uuid[]) language plpgsql as $$
declare
  latest record;
  unmet text;
  fresh bigint;
  stored bigint;
  version text := 'null';
begin
  select v.seq, v.version_id, v.etag, v.size, v.modified_at into latest
  from object_versions v where v.bucket = home.id and v.key = object_key order by v.seq desc limit 1;
  if conditions is not null then
    -- A missing object needs no deletion, whatever the conditions say.
    if latest.seq is null then return query select null::text, null::text, false, null::uuid[]; return; end if;
    unmet := storage_unmet(conditions, latest.etag, latest.size, latest.modified_at);
    if unmet is not null then return query select unmet, null::text, false, null::uuid[]; return; end if;
  end if;
  if home.versioning = 'off' then
    if latest.seq is not null then
      freed := coalesce(storage_remove(home.id, object_key, latest.seq), '{}');
      perform storage_tell(home, 'ObjectRemoved:Delete', object_key, 'null', latest.size, latest.etag);
    end if;
    return query select null::text, null::text, false, freed;
    return;
  end if;
  fresh := nextval('object_seq');
  if home.versioning = 'enabled' then
    version := storage_version_id(fresh);
  elsif latest.version_id = 'null' then
    freed := storage_remove(home.id, object_key, latest.seq);
  else
    freed := storage_drop_null(home.id, object_key);
  end if;
  update object_versions v set is_latest = false
  where v.bucket = home.id and v.key = object_key and v.seq = latest.seq;
  insert into object_versions as v (bucket, key, seq, version_id, is_latest, delete_marker, owner, modified_at)
  values (home.id, object_key, fresh, version, true, true, home.account, storage_now())
  returning storage_stored(v) into stored;
  perform storage_count(home.id, storage_stripe(home.id, object_key), stored, 1);
  perform storage_tell(home, 'ObjectRemoved:DeleteMarkerCreated', object_key, version, 0, '');
  return query select null::text, version, true, freed;
end $$;

-- Removes one version for good, unless object lock protects it. The version before it becomes the latest.
create or replace function storage_delete_version(
  home storage_home, object_key text, version text, conditions jsonb, bypass boolean)
returns table (refused text, version_id text, marker boolean, freed uuid[]) language plpgsql as $$
declare
  found_seq constant bigint := storage_find(home.id, object_key, version);
  victim record;
  unmet text;
begin
  if found_seq is null then return query select null::text, version, false, null::uuid[]; return; end if;
  select v.* into victim from object_versions v
  where v.bucket = home.id and v.key = object_key and v.seq = found_seq;
  if conditions is not null then
    unmet := storage_unmet(conditions, victim.etag, victim.size, victim.modified_at);
    if victim.is_latest and (conditions ->> 'ifNoncurrent')::boolean then unmet := 'PreconditionFailed'; end if;
    if unmet is not null then return query select unmet, null::text, false, null::uuid[]; return; end if;
  end if;
  if storage_keeps(victim.legal_hold, victim.retention_mode, victim.retain_until, bypass) then
    return query select 'AccessDenied', null::text, false, null::uuid[];
    return;
  end if;
  freed := coalesce(storage_remove(home.id, object_key, found_seq), '{}');
  if victim.is_latest then
    update object_versions v set is_latest = true
    where v.bucket = home.id and v.key = object_key and v.seq = (
      select max(seq) from object_versions o where o.bucket = home.id and o.key = object_key);
  end if;
  perform storage_tell(home, 'ObjectRemoved:Delete', object_key, version, victim.size, victim.etag);
  return query select null::text, version, victim.delete_marker, freed;
end $$;

-- The seq of a version, or null. Ids that the store made contain the seq; `null` is the latest version or in an index
-- of its own.
create or replace function storage_find(bucket_id int, object_key text, version text)
returns bigint language plpgsql stable as $$
declare
  found_seq bigint;
begin
  if version = 'null' then
    select v.seq into found_seq from object_versions v
    where v.bucket = bucket_id and v.key = object_key and v.version_id = 'null' and not v.is_latest;
    if found_seq is not null then return found_seq; end if;
    select v.seq, v.version_id into found_seq, version from object_versions v
    where v.bucket = bucket_id and v.key = object_key order by v.seq desc limit 1;
    return case when version = 'null' then found_seq end;
  end if;
  select v.seq into found_seq from object_versions v
  where v.bucket = bucket_id and v.key = object_key and v.seq = storage_seq_of(version)
    and v.version_id = version;
  return found_seq;
end $$;
