-- Locks, conditions, blobs and counters, used by put.sql, delete.sql and upload.sql.
--
-- Only functions that the planner can inline have the language SQL: all others would be parsed anew at each call.
--
-- The order of locks: the bucket (shared, and exclusive for its deletion), stripes in ascending order, the upload's
-- row, folders from the deepest up (folders.sql), rows of blobs by id. The stripe of a key is one of 1024: a lock for each key would overflow the server's lock
-- table (64 × max_connections) when clients delete a thousand at once.

create or replace function storage_stripe(bucket_id int, object_key text)
returns int language sql immutable as $$
  select (hashtextextended(object_key, bucket_id) & 1023)::int
$$;

-- The bucket, locked against deletion until the transaction ends. Null: the bucket does not exist. Nobody waits for the
-- lock here, on a connection that others need: where a deletion has it, ERG02, and the caller asks again (when-free.ts).
create or replace function storage_enter(bucket_id int) returns storage_home language plpgsql as $$
declare
  home storage_home;
begin
  if not pg_try_advisory_xact_lock_shared(4207710, bucket_id) then
    raise exception 'the bucket is being deleted' using errcode = 'ERG02';
  end if;
  select b.id, b.account, b.versioning, b.notification, b.followed into home from buckets b where b.id = bucket_id;
  return home;
end $$;

create or replace function storage_lock(bucket_id int, object_key text) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4207711, storage_stripe(bucket_id, object_key));
end $$;

-- The id begins with the seq, so that a version is found by its id. The rest is random, so that nobody can guess the
-- id.
create or replace function storage_version_id(seq bigint) returns text language sql volatile as $$
  select lpad(to_hex(seq), 16, '0') || right(replace(gen_random_uuid()::text, '-', ''), 16)
$$;

create or replace function storage_seq_of(version text) returns bigint language sql immutable as $$
  select case when version ~ '^[0-7][0-9a-f]{31}$' then ('x' || left(version, 16))::bit(64)::bigint end
$$;

-- Seconds and milliseconds are added apart: to_timestamp() alone rounds times that are far away.
create or replace function storage_time(ms jsonb) returns timestamptz language sql immutable as $$
  select to_timestamp(div(ms::numeric, 1000)::float8) + mod(ms::numeric, 1000)::float8 * interval '1 millisecond'
$$;

create or replace function storage_ms(at timestamptz) returns bigint language sql stable as $$
  select round(extract(epoch from at) * 1000)::bigint
$$;

-- Times are kept to the millisecond, so that they are the same in a listing and in a condition.
create or replace function storage_now() returns timestamptz language sql volatile as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;

-- The error of the first condition that does not hold, or null. Most writes have no condition.
create or replace function storage_unmet(conditions jsonb, found_etag text, found_size bigint, found_at timestamptz)
returns text language plpgsql immutable as $$
declare
  wanted jsonb := conditions -> 'ifMatch';
  unwanted jsonb := conditions -> 'ifNoneMatch';
begin
  if wanted is not null then
    if found_etag is null then return 'NoSuchKey'; end if;
    if wanted <> '"*"' and not wanted ? found_etag then return 'PreconditionFailed'; end if;
  end if;
  if unwanted is not null and found_etag is not null
    and (unwanted = '"*"' or unwanted ? found_etag) then return 'PreconditionFailed';
  end if;
  if (conditions ->> 'ifMatchSize')::bigint <> found_size then return 'PreconditionFailed'; end if;
  if date_trunc('second', storage_time(conditions -> 'ifMatchModifiedMs')) <> date_trunc('second', found_at)
    then return 'PreconditionFailed';
  end if;
  return null;
end $$;

-- Adds a reference to each blob: [{id, location, size, checksum}]. Shared blobs must exist already; false: some do
-- not.
create or replace function storage_hold(blobs_given jsonb, shared boolean) returns boolean language plpgsql as $$
declare
  wanted int;
  held int;
begin
  if not shared then
    insert into blobs (id, location, size, checksum, refs)
    select b.id, b.location, b.size, b.checksum, 1
    from jsonb_to_recordset(blobs_given) as b (id uuid, location text, size bigint, checksum text);
    return true;
  end if;
  select count(*) into wanted from jsonb_array_elements(blobs_given);
  with locked as (
    select id from blobs
    where id in (select (b ->> 'id')::uuid from jsonb_array_elements(blobs_given) b) order by id for update
  )
  update blobs set refs = refs + 1 from locked where blobs.id = locked.id;
  get diagnostics held = row_count;
  return held = wanted;
end $$;

-- Removes a reference from each blob, as often as the blob is listed. Blobs without references become garbage. Called
-- once in a transaction with all its blobs: copies share blobs, and two transactions that released them one by one
-- could deadlock.
create or replace function storage_release(blob_ids uuid[]) returns void language plpgsql as $$
begin
  with freed as (
    select id, count(*) as n from unnest(blob_ids) id group by id
  ), locked as materialized (
    -- The counts are read after the lock is taken, so they are the counts that are changed below.
    select b.id, b.refs - freed.n as refs from blobs b join freed using (id) order by b.id for update of b
  ), less as (
    update blobs b set refs = locked.refs from locked where b.id = locked.id and locked.refs > 0
  ), gone as (
    delete from blobs b using locked where b.id = locked.id and locked.refs = 0
    returning b.location, b.id, b.size
  )
  insert into blob_garbage (location, id, size, since) select location, id, size, clock_timestamp() from gone;
end $$;

create or replace function storage_blobs_of(parts jsonb) returns uuid[] language plpgsql immutable as $$
begin
  return array(select (part ->> 'blob')::uuid from jsonb_array_elements(parts) part);
end $$;

-- Adds to the usage counters of a bucket. The caller holds the lock of the stripe.
create or replace function storage_count(
  bucket_id int, in_stripe int, more_bytes bigint, more_versions int, more_uploads int default 0)
returns void language plpgsql as $$
begin
  update bucket_usage u set bytes = u.bytes + more_bytes, versions = u.versions + more_versions,
    uploads = u.uploads + more_uploads
  where u.bucket = bucket_id and u.stripe = in_stripe;
  if not found then
    insert into bucket_usage as u (bucket, stripe, bytes, versions, uploads)
    values (bucket_id, in_stripe, more_bytes, more_versions, more_uploads)
    on conflict (bucket, stripe) do update set bytes = u.bytes + excluded.bytes,
      versions = u.versions + excluded.versions, uploads = u.uploads + excluded.uploads;
  end if;
end $$;

-- Adds to the counters of open uploads; the caller holds the upload's row. They are in rows below 0, because parts
-- are written without the lock of a stripe: the holder of that lock may wait for the upload. `name` spreads the parts
-- of an upload over these rows, so that parts do not wait for each other; the end of the upload subtracts its sum
-- from one row.
create or replace function storage_count_upload(bucket_id int, name text, more_bytes bigint, more_uploads int)
returns void language plpgsql as $$
begin
  perform storage_count(bucket_id, -1 - (hashtext(name) & 63), more_bytes, 0, more_uploads);
end $$;

-- True when object lock protects a version. GOVERNANCE mode yields to a bypass.
create or replace function storage_keeps(hold boolean, mode text, until timestamptz, bypass boolean)
returns boolean language sql volatile as $$
  select coalesce(hold, false) or (coalesce(until > clock_timestamp(), false) and not (mode = 'GOVERNANCE' and bypass))
$$;

-- The stored bytes of a version's annotations, with their names.
create or replace function storage_sheet_bytes(annotations jsonb) returns bigint language sql immutable as $$
  select coalesce((annotations ->> 'bytes')::bigint, 0)
$$;

-- The stored bytes of a version: its body, its annotations and its metadata as JSON text. Three empty documents are
-- `{}` and count nothing. A delete marker counts its key.
create or replace function storage_stored(v object_versions) returns bigint language sql stable as $$
  select v.size + storage_sheet_bytes(v.annotations)
    + octet_length(concat(v.key, v.headers, v.metadata, v.tags, v.acl)) - 6
$$;

create or replace function storage_drop_sheet(annotations jsonb) returns void language plpgsql as $$
begin
  insert into annotation_garbage (sheet, since)
  values ((annotations ->> 'sheet')::bigint, clock_timestamp());
end $$;

-- Removes one version with its annotations and its counters, and returns its blobs, which the caller releases.
create or replace function storage_remove(bucket_id int, object_key text, at_seq bigint)
returns uuid[] language plpgsql as $$
declare
  gone record;
begin
  delete from object_versions v where v.bucket = bucket_id and v.key = object_key and v.seq = at_seq
  returning v.parts, v.annotations, storage_stored(v) as stored into strict gone;
  if gone.annotations is not null then perform storage_drop_sheet(gone.annotations); end if;
  perform storage_count(bucket_id, storage_stripe(bucket_id, object_key), -gone.stored, -1);
  return case when gone.parts is not null then storage_blobs_of(gone.parts) end;
end $$;

-- True when a notification rule matches an event.
create or replace function storage_wants(rule jsonb, event text, object_key text)
returns boolean language plpgsql immutable as $$
declare
  suffix constant text := coalesce(rule ->> 'suffix', '');
begin
  return (rule -> 'events' ? ('s3:' || event)
      or rule -> 'events' ? ('s3:' || split_part(event, ':', 1) || ':*'))
    and starts_with(object_key, coalesce(rule ->> 'prefix', ''))
    and right(object_key, length(suffix)) = suffix;
end $$;

-- Tells the followers of the bucket, and writes an event when a rule of it matches. At most one rule does, as rules may not overlap.
create or replace function storage_tell(home storage_home, event text, object_key text, version text, of_size bigint, of_etag text)
returns void language plpgsql as $$
declare
  asked jsonb;
begin
  if home.followed and starts_with(event, 'ObjectCreated:') then
    perform storage_follow(home.id, object_key, version);
  end if;
  if home.notification is null then return; end if;
  for asked in select jsonb_array_elements(home.notification -> 'rules') loop
    if storage_wants(asked, event, object_key) then
      insert into storage_events (bucket, rule, name, key, version_id, size, etag, at)
      values (home.id, asked ->> 'id', event, object_key, version, of_size, of_etag, clock_timestamp());
      return;
    end if;
  end loop;
end $$;
