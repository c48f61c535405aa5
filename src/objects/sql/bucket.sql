-- Changes of a bucket that take more than one statement, and changes of a version after it was written.

-- Buckets of one account are created one after the other, so that each creation counts the other.
create or replace function storage_create_bucket(given jsonb, most int) returns text language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4207712, hashtext(given ->> 'account'));
  if exists (select from buckets where name = given ->> 'name') then return 'BucketAlreadyExists'; end if;
  if (select count(*) from buckets where account = given ->> 'account') >= most then return 'TooManyBuckets'; end if;
  insert into buckets (name, account, region, object_lock, versioning, configurations, followed)
  values (given ->> 'name', given ->> 'account', given ->> 'region', (given ->> 'objectLock')::boolean,
    case when (given ->> 'objectLock')::boolean then 'enabled' else 'off' end, given -> 'configurations',
    exists (select from bucket_followers where account = given ->> 'account' and bucket = given ->> 'name'))
  on conflict (name) do nothing;
  return case when not found then 'BucketAlreadyExists' end;
end $$;

-- Takes the bucket's lock exclusively. Writers of objects take it shared, by a try that does not wait. Open uploads
-- do not keep a bucket, as at AWS: they end as storage_abort ends an upload. Parts are written without the bucket's lock; the lock of their
-- upload's row excludes them. `removed` is the number of their parts.
-- Without scans of the table: these read damaged blocks of other buckets.
create or replace function storage_delete_bucket(bucket_id int)
returns table (refused text, removed int) language plpgsql set enable_seqscan = off as $$
declare
  held uuid[];
begin
  -- First without the lock, which would hold up the writers of a bucket that stays.
  if exists (select from object_versions where bucket = bucket_id) then
    return query select 'BucketNotEmpty', 0;
    return;
  end if;
  if not pg_try_advisory_xact_lock(4207710, bucket_id) then
    raise exception 'the bucket is being changed' using errcode = 'ERG02';
  end if;
  if exists (select from object_versions where bucket = bucket_id) then
    return query select 'BucketNotEmpty', 0;
    return;
  end if;
  perform from uploads u where u.bucket = bucket_id order by u.id for update;
  with gone as (
    delete from upload_parts p using uploads u
    where u.bucket = bucket_id and p.upload = u.id returning p.blob
  )
  select array_agg(blob) into held from gone;
  if held is not null then perform storage_release(held); end if;
  delete from uploads where bucket = bucket_id;
  delete from bucket_usage where bucket = bucket_id;
  delete from object_folders where bucket = bucket_id;
  perform standing_end('bucket', b.id::text, b.name, b.account) from buckets b where b.id = bucket_id;
  delete from buckets where id = bucket_id;
  return query select case when not found then 'NoSuchBucket' end, coalesce(cardinality(held), 0);
end $$;

-- Versions that no lock keeps, behind a place in the order of the index; governance mode keeps none. A scan of the table
-- would read damaged blocks of other buckets.
create or replace function storage_unlocked(bucket_id int, after_key text, after_seq bigint, most int)
returns table (key text, version_id text, seq text) language plpgsql set enable_seqscan = off as $$
begin
  return query select v.key, v.version_id, v.seq::text from object_versions v
    where v.bucket = bucket_id and v.key >= after_key and (v.key > after_key or v.seq < after_seq)
      and not storage_keeps(v.legal_hold, v.retention_mode, v.retain_until, true)
    order by v.key, v.seq desc limit most;
end $$;

-- `change` is one of {tags}, {acl}, {legalHold}, {retention, bypassGovernance}.
create or replace function storage_amend(bucket_id int, object_key text, version text, change jsonb)
returns table (refused text, version_id text, modified_ms bigint) language plpgsql as $$
declare
  found_seq bigint;
  found_row record;
  stored_now bigint;
begin
  perform storage_lock(bucket_id, object_key);
  if version is null then
    select max(v.seq) into found_seq from object_versions v where v.bucket = bucket_id and v.key = object_key;
  else
    found_seq := storage_find(bucket_id, object_key, version);
  end if;
  select v.version_id, v.delete_marker, v.retention_mode, v.retain_until, v.modified_at,
    storage_stored(v) as stored into found_row
  from object_versions v where v.bucket = bucket_id and v.key = object_key and v.seq = found_seq;
  if not found or found_row.delete_marker and version is null then
    return query select case when version is null then 'NoSuchKey' else 'NoSuchVersion' end, null::text, null::bigint;
    return;
  end if;
  if found_row.delete_marker then return query select 'MethodNotAllowed', null::text, null::bigint; return; end if;
  if change ? 'retention' and storage_weakens(found_row.retention_mode, found_row.retain_until, change) then
    return query select 'AccessDenied', null::text, null::bigint;
    return;
  end if;
  update object_versions v set
    tags = coalesce(change -> 'tags', v.tags),
    acl = case when change ? 'acl' then nullif(change -> 'acl', 'null') else v.acl end,
    legal_hold = coalesce((change ->> 'legalHold')::boolean, v.legal_hold),
    retention_mode = case when change ? 'retention'
      then change #>> '{retention,mode}' else v.retention_mode end,
    retain_until = case when change ? 'retention'
      then storage_time(change #> '{retention,untilMs}') else v.retain_until end
  where v.bucket = bucket_id and v.key = object_key and v.seq = found_seq
  returning storage_stored(v) into stored_now;
  perform storage_count(bucket_id, storage_stripe(bucket_id, object_key), stored_now - found_row.stored, 0);
  return query select null::text, found_row.version_id, storage_ms(found_row.modified_at);
end $$;

-- A running retention may only become longer in its mode. GOVERNANCE mode yields to a bypass.
create or replace function storage_weakens(mode text, until timestamptz, change jsonb)
returns boolean language sql volatile as $$
  select coalesce(until > clock_timestamp(), false)
    and not (mode = 'GOVERNANCE' and coalesce((change ->> 'bypassGovernance')::boolean, false))
    and (coalesce(change #>> '{retention,mode}', '') <> mode
      or storage_time(change #> '{retention,untilMs}') < until)
$$;

-- The wrapped keys of a version and its encryption: `Seals` of types.ts.
create or replace function storage_seals(target object_versions) returns jsonb language plpgsql immutable as $$
begin
  return jsonb_build_object('encryption', target.encryption, 'sheetKey', target.annotations -> 'key',
    'parts', case when target.parts is not null then (select jsonb_agg(p.part -> 'encryption' order by p.n)
      from jsonb_array_elements(target.parts) with ordinality p (part, n)) end);
end $$;

-- Replaces the seals if they are still those that the caller read. A key rotation ignores object lock.
create or replace function storage_reseal(
  bucket_id int, object_key text, version text, seals_before jsonb, seals_after jsonb, despite_lock boolean)
returns text language plpgsql as $$
declare
  target object_versions;
begin
  perform storage_lock(bucket_id, object_key);
  select v.* into target from object_versions v where v.bucket = bucket_id and v.key = object_key
    and v.seq = storage_find(bucket_id, object_key, version);
  if target.seq is null then return 'NoSuchVersion'; end if;
  if storage_seals(target) <> seals_before then return 'ConditionalRequestConflict'; end if;
  if not despite_lock
    and storage_keeps(target.legal_hold, target.retention_mode, target.retain_until, false) then
    return 'AccessDenied';
  end if;
  update object_versions v set
    encryption = seals_after -> 'encryption',
    parts = case when target.parts is not null then (
      select jsonb_agg(p.part || jsonb_build_object('encryption', seals_after -> 'parts' -> (p.n - 1)::int)
        order by p.n)
      from jsonb_array_elements(target.parts) with ordinality p (part, n)) end,
    annotations = v.annotations || jsonb_build_object('key', seals_after -> 'sheetKey')
  where v.bucket = bucket_id and v.key = object_key and v.seq = target.seq;
  return null;
end $$;
