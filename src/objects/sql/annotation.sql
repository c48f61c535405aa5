-- Annotations: named texts of a version. They change the version's `annotations` under the lock of its key.

-- The version to annotate, or the error: the key and version must exist, and the ETag must match.
create or replace function storage_annotated(
  bucket_id int, object_key text, version text, given jsonb, out refused text, out target object_versions)
language plpgsql as $$
begin
  perform storage_lock(bucket_id, object_key);
  select v.* into target from object_versions v where v.bucket = bucket_id and v.key = object_key
    and (version is null or v.seq = storage_find(bucket_id, object_key, version))
    order by v.seq desc limit 1;
  refused := case
    when target.seq is null or target.delete_marker then 'NoSuchKey'
    when given ->> 'ifMatch' <> target.etag then 'PreconditionFailed'
  end;
end $$;

-- Updates the version's totals; `sheet` and `sealed_by` are used when the version has no sheet yet.
create or replace function storage_note(target object_versions, sheet bigint, sealed_by jsonb, more int, more_bytes int)
returns void language plpgsql as $$
begin
  update object_versions v set annotations = jsonb_build_object(
    'sheet', sheet,
    'key', coalesce(target.annotations -> 'key', sealed_by),
    'count', coalesce((target.annotations ->> 'count')::int, 0) + more,
    'bytes', storage_sheet_bytes(target.annotations) + more_bytes,
    -- A copy compares this number to notice a change of its source.
    'changed', nextval('object_seq'))
  where v.bucket = target.bucket and v.key = target.key and v.seq = target.seq;
  perform storage_count(target.bucket, storage_stripe(target.bucket, target.key), more_bytes, 0);
end $$;

-- `given` is {name, size, etag, checksums, salt, sheet, key, encryption, ifMatch, bypass, most}. `sheet` and
-- `encryption` are what the writer read of the version; `sheet` is null when the version had none.
create or replace function storage_put_annotation(
  bucket_id int, object_key text, version text, given jsonb, payload bytea)
returns table (refused text, modified_ms bigint) language plpgsql as $$
#variable_conflict use_column
declare
  at constant timestamptz := storage_now();
  judged record;
  target object_versions;
  old_size int;
  of_sheet bigint;
begin
  if (storage_enter(bucket_id)).id is null then return query select 'NoSuchBucket', null::bigint; return; end if;
  judged := storage_annotated(bucket_id, object_key, version, given);
  if judged.refused is not null then return query select judged.refused, null::bigint; return; end if;
  target := judged.target;
  -- The text was encrypted for another version: the writer reads the version again.
  if target.annotations -> 'sheet' is distinct from nullif(given -> 'sheet', 'null')
    or target.encryption - 'envelope' is distinct from nullif(given -> 'encryption', 'null') then
    return query select 'ConditionalRequestConflict', null::bigint;
    return;
  end if;
  of_sheet := coalesce((given ->> 'sheet')::bigint, nextval('object_seq'));
  select a.size into old_size from object_annotations a
  where a.sheet = of_sheet and a.name = given ->> 'name';
  if old_size is not null and storage_keeps(target.legal_hold, target.retention_mode,
    target.retain_until, (given ->> 'bypass')::boolean) then
    return query select 'AccessDenied', null::bigint;
    return;
  end if;
  if old_size is null and (target.annotations ->> 'count')::int >= (given ->> 'most')::int then
    return query select 'AnnotationLimitExceeded', null::bigint;
    return;
  end if;
  insert into object_annotations (sheet, name, size, etag, checksums, modified_at, salt, body)
  values (of_sheet, given ->> 'name', (given ->> 'size')::int, given ->> 'etag', given -> 'checksums', at,
    decode(given ->> 'salt', 'base64'), payload)
  on conflict (sheet, name) do update set size = excluded.size, etag = excluded.etag,
    checksums = excluded.checksums, modified_at = excluded.modified_at, salt = excluded.salt,
    body = excluded.body;
  perform storage_note(target, of_sheet, given -> 'key', case when old_size is null then 1 else 0 end,
    (given ->> 'size')::int - coalesce(old_size, -octet_length(given ->> 'name')));
  return query select null::text, storage_ms(at);
end $$;

-- `given` is {name, ifMatch, bypass}. Deleting a missing annotation succeeds.
create or replace function storage_delete_annotation(bucket_id int, object_key text, version text, given jsonb)
returns text language plpgsql as $$
declare
  judged record;
  target object_versions;
  old_size int;
begin
  if (storage_enter(bucket_id)).id is null then return 'NoSuchBucket'; end if;
  judged := storage_annotated(bucket_id, object_key, version, given);
  if judged.refused is not null then return judged.refused; end if;
  target := judged.target;
  select a.size into old_size from object_annotations a
  where a.sheet = (target.annotations ->> 'sheet')::bigint and a.name = given ->> 'name';
  if old_size is null then return null; end if;
  if storage_keeps(target.legal_hold, target.retention_mode, target.retain_until,
    (given ->> 'bypass')::boolean) then return 'AccessDenied';
  end if;
  delete from object_annotations a
  where a.sheet = (target.annotations ->> 'sheet')::bigint and a.name = given ->> 'name';
  perform storage_note(target, (target.annotations ->> 'sheet')::bigint, null, -1,
    -old_size - octet_length(given ->> 'name'));
  return null;
end $$;

-- Copies up to `most` annotations after a name into another sheet. Returns the last name, or null at the end.
create or replace function storage_copy_sheet(from_sheet bigint, to_sheet bigint, after text, most int)
returns text language sql volatile as $$
  with copied as (
    insert into object_annotations (sheet, name, size, etag, checksums, modified_at, salt, body)
    select to_sheet, a.name, a.size, a.etag, a.checksums, a.modified_at, a.salt, a.body
    from object_annotations a where a.sheet = from_sheet and a.name > after order by a.name limit most
    returning name
  )
  select max(name collate "C") from copied
$$;
