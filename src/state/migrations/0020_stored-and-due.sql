-- What is due of a bucket and not charged yet, as it is not worth a charge: in zeptojoules (10⁻²¹ J), so that
-- bytes × milliwatts × milliseconds × overhead are whole; and from when to when that was stored.
alter table storage_samples
  add column due_zj numeric not null default 0,
  add column due_from_ms bigint,
  add column due_to_ms bigint,
  -- Of a bucket that is deleted while something is due of it.
  add column name text collate "C",
  add column account text collate "C";
create index storage_samples_deleted on storage_samples (bucket) where account is not null;

-- It is told the power, and answers energy.
drop function if exists storage_look(bigint, int, int);

-- What is written about an object counts in what is stored, as storage_stored() of objects/common.sql does.
insert into bucket_usage as u (bucket, stripe, bytes, versions)
  select v.bucket, (hashtextextended(v.key, v.bucket) & 1023)::int,
    sum(octet_length(concat(v.key, v.headers, v.metadata, v.tags, v.acl)) - 6), 0
  from object_versions v group by 1, 2
on conflict (bucket, stripe) do update set bytes = u.bytes + excluded.bytes;
-- And of an upload that is open, and of a bucket; the documents of one that has none are `{}`.
alter table uploads add column own_bytes bigint
  generated always as (octet_length(key) + octet_length(attributes::text)) stored;
alter table buckets add column documents_bytes bigint
  generated always as (octet_length(configurations::text) - 2) stored;
