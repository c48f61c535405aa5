-- What is open of uploads in parts is counted where it changes: each look at a bucket read all of it.
alter table bucket_usage add column uploads integer not null default 0;
-- In rows below 0 (storage_count_upload of objects/common.sql).
insert into bucket_usage (bucket, stripe, bytes, versions, uploads)
  select o.bucket, -1, sum(o.own_bytes
      + coalesce((select sum(p.size) from upload_parts p where p.upload = o.id), 0)), 0, count(*)
  from uploads o where o.completed is null group by o.bucket;

-- Names of annotations count in what is stored.
with named as (
  select sheet, sum(octet_length(name)) as bytes from object_annotations group by sheet
), mended as (
  update object_versions v set annotations = v.annotations
    || jsonb_build_object('bytes', (v.annotations ->> 'bytes')::bigint + named.bytes)
  from named where v.annotations is not null and (v.annotations ->> 'sheet')::bigint = named.sheet
  returning v.bucket, v.key, named.bytes
)
insert into bucket_usage as u (bucket, stripe, bytes, versions)
  select bucket, (hashtextextended(key, bucket) & 1023)::int, sum(bytes), 0 from mended group by 1, 2
on conflict (bucket, stripe) do update set bytes = u.bytes + excluded.bytes;

-- A look sums up what may pass 2^63, and is told which buckets.
alter table storage_samples alter column bytes type numeric;
drop function if exists storage_look(bigint, int, int, numeric);

-- Blobs are released by whoever called these, all of a transaction at once.
alter type storage_written add attribute freed uuid[];
drop function if exists storage_remove(int, text, bigint);
drop function if exists storage_drop_null(int, text);
drop function if exists storage_delete_latest(storage_home, text, jsonb);
drop function if exists storage_delete_version(storage_home, text, text, jsonb, boolean);

-- These have more parameters now.
drop function if exists storage_begin_upload(int, text, text, text, jsonb);
drop function if exists storage_count(int, int, bigint, int);
