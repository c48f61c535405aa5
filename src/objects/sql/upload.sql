-- Uploads in parts: create, parts, complete and abort.

create or replace function storage_begin_upload(
  bucket_id int, object_key text, upload_id text, by_account text, given jsonb, most int)
returns table (refused text, initiated_at timestamptz) language plpgsql as $$
declare
  at constant timestamptz := storage_now();
  own bigint;
begin
  if (storage_enter(bucket_id)).id is null then return query select 'NoSuchBucket', at; return; end if;
  -- Concurrent creations do not see each other, so the number may pass the limit by a few.
  if (select sum(u.uploads) from bucket_usage u where u.bucket = bucket_id) >= most then
    return query select 'TooManyUploads', at;
    return;
  end if;
  insert into uploads as u (id, bucket, key, initiator, initiated_at, attributes)
  values (upload_id, bucket_id, object_key, by_account, at, given) returning u.own_bytes into own;
  perform storage_count_upload(bucket_id, upload_id, own, 1);
  return query select null::text, at;
end $$;

-- `part` is a Part of types.ts whose blob is {id, location, size, checksum}.
create or replace function storage_put_part(bucket_id int, object_key text, upload_id text, part jsonb)
returns table (refused text, modified_at timestamptz) language plpgsql as $$
declare
  at constant timestamptz := storage_now();
  replaced uuid;
  replaced_size bigint := 0;
begin
  -- Shared: parts are written concurrently; completing and aborting wait for them.
  perform from uploads u
  where u.id = upload_id and u.bucket = bucket_id and u.key = object_key and u.completed is null for share;
  if not found then return query select 'NoSuchUpload', at; return; end if;
  perform storage_hold(jsonb_build_array(part -> 'blob'), false);
  -- The lock is per part number: of two writers the later replaces the earlier.
  insert into upload_parts as kept (upload, number, size, etag, checksums, encryption, blob, modified_at)
  values (upload_id, (part ->> 'number')::int, (part ->> 'size')::bigint, part ->> 'etag',
    part -> 'checksums', nullif(part -> 'encryption', 'null'), (part #>> '{blob,id}')::uuid, at)
  on conflict (upload, number) do nothing;
  if not found then
    select p.blob, p.size into strict replaced, replaced_size from upload_parts p
    where p.upload = upload_id and p.number = (part ->> 'number')::int for update;
    update upload_parts p set size = (part ->> 'size')::bigint, etag = part ->> 'etag',
      checksums = part -> 'checksums', encryption = nullif(part -> 'encryption', 'null'),
      blob = (part #>> '{blob,id}')::uuid, modified_at = at
    where p.upload = upload_id and p.number = (part ->> 'number')::int;
    perform storage_release(array[replaced]);
  end if;
  perform storage_count_upload(bucket_id, upload_id || (part ->> 'number'),
    (part ->> 'size')::bigint - replaced_size, 0);
  return query select null::text, at;
end $$;

-- `written` as in put.sql; its parts must still be the parts of the upload. `request` is a digest of the client's
-- list.
create or replace function storage_complete(
  bucket_id int, object_key text, upload_id text, request text, written jsonb)
returns table (refused text, answer jsonb) language plpgsql as $$
declare
  home storage_home;
  upload uploads;
  made storage_written;
  listed constant uuid[] := storage_blobs_of(written -> 'parts');
  known record;
begin
  home := storage_enter(bucket_id);
  if home.id is null then return query select 'NoSuchBucket', null::jsonb; return; end if;
  perform storage_lock(bucket_id, object_key);
  select * into upload from uploads u
  where u.id = upload_id and u.bucket = bucket_id and u.key = object_key for update;
  if upload.completed ->> 'request' = request then
    return query select null::text, upload.completed;
    return;
  end if;
  if upload.id is null or upload.completed is not null then
    return query select 'NoSuchUpload', null::jsonb;
    return;
  end if;
  select count(*) filter (where p.blob = any (listed)) as listed, coalesce(sum(p.size), 0)::bigint as bytes,
    array_agg(p.blob) filter (where p.blob <> all (listed)) as unlisted into known
  from upload_parts p where p.upload = upload_id;
  if known.listed <> cardinality(listed) then return query select 'InvalidPart', null::jsonb; return; end if;
  perform storage_enter_folders(array[bucket_id], array[object_key], jsonb_build_array(written));
  made := storage_commit(home, object_key, written, null);
  if made.refused is not null then return query select made.refused, null::jsonb; return; end if;
  delete from upload_parts p where p.upload = upload_id;
  perform storage_release(made.freed || known.unlisted);
  perform storage_count_upload(bucket_id, upload_id, -upload.own_bytes - known.bytes, -1);
  answer := jsonb_build_object('request', request, 'versionId', made.version_id,
    'modifiedAtMs', made.modified_ms, 'etag', written -> 'etag', 'size', written -> 'size',
    'checksums', written -> 'checksums');
  update uploads u set completed = answer, completed_at = clock_timestamp() where u.id = upload_id;
  return query select null::text, answer;
end $$;

-- Returns the number of removed parts, or null without an upload.
create or replace function storage_abort(bucket_id int, object_key text, upload_id text)
returns int language plpgsql as $$
declare
  own bigint;
  held record;
begin
  select u.own_bytes into own from uploads u where u.id = upload_id and u.bucket = bucket_id
    and u.key = object_key and u.completed is null for update;
  if not found then return null; end if;
  select array_agg(p.blob) as blobs, coalesce(sum(p.size), 0)::bigint as bytes into held
  from upload_parts p where p.upload = upload_id;
  delete from upload_parts p where p.upload = upload_id;
  if held.blobs is not null then perform storage_release(held.blobs); end if;
  delete from uploads u where u.id = upload_id;
  perform storage_count_upload(bucket_id, upload_id, -own - held.bytes, -1);
  return coalesce(cardinality(held.blobs), 0);
end $$;
