-- Object storage: buckets, versions of objects, uploads in parts, and the blobs that hold large bodies.
-- Functions that change them are in src/storage/objects/*.sql. Rows name a bucket without a foreign key:
-- its check would lock the bucket's row for each object; the functions hold an advisory lock instead.

create table buckets (
  id integer primary key generated always as identity,
  name text collate "C" not null unique,
  account text collate "C" not null references accounts (id),
  region text not null,
  created_at timestamptz not null default now(),
  versioning text not null default 'off' check (versioning in ('off', 'enabled', 'suspended')),
  object_lock boolean not null default false check (not object_lock or versioning = 'enabled'),
  -- One document for each kind (acl, policy, cors, lifecycle …), in the door's own form.
  configurations jsonb not null default '{}'
);
create index buckets_by_account on buckets (account, name);

create sequence object_seq;

create table object_versions (
  bucket integer not null,
  -- The bytes of UTF-8 in order: S3's order of a listing.
  key text collate "C" not null,
  -- Of two versions of a key the greater one is the newer.
  seq bigint not null,
  -- `null`, or the seq and random digits (storage_version_id).
  version_id text collate "C" not null,
  is_latest boolean not null,
  delete_marker boolean not null default false,
  size bigint not null default 0,
  etag text collate "C" not null default '',
  checksums jsonb not null default '{}',
  headers jsonb not null default '{}',
  metadata jsonb not null default '{}',
  tags jsonb not null default '{}',
  acl jsonb,
  retention_mode text,
  retain_until timestamptz,
  legal_hold boolean not null default false,
  encryption jsonb,
  storage_class text not null default 'STANDARD',
  owner text collate "C" not null,
  modified_at timestamptz not null,
  -- A body is in the row or in blobs: [{number, size, etag, checksums, encryption, blob}].
  inline bytea,
  parts jsonb,
  -- 0 when it was not uploaded in parts.
  part_count integer not null default 0
  -- No checks: the server parses each of them anew for each statement; that was 4 % of a put.
) with (fillfactor = 90);
-- Bodies rarely compress, and trying costs more than the whole insert.
alter table object_versions alter column inline set storage external;
create unique index object_versions_by_key on object_versions (bucket, key, seq desc);
create unique index object_versions_listed on object_versions (bucket, key)
  where is_latest and not delete_marker;
-- Where the one `null` version of a key is, when it is not the latest.
create unique index object_versions_null on object_versions (bucket, key)
  where version_id = 'null' and not is_latest;

create table uploads (
  id text collate "C" primary key,
  bucket integer not null,
  key text collate "C" not null check (octet_length(key) between 1 and 1024),
  initiator text collate "C" not null,
  initiated_at timestamptz not null,
  -- UploadAttributes of storage/objects/types.ts.
  attributes jsonb not null,
  -- What was answered: the same Complete again gets the same answer for a day.
  completed jsonb,
  completed_at timestamptz
);
create index uploads_listed on uploads (bucket, key, id) where completed is null;
create index uploads_completed on uploads (completed_at) where completed is not null;

create table upload_parts (
  upload text collate "C" not null references uploads (id),
  number integer not null check (number between 1 and 10000),
  size bigint not null,
  etag text collate "C" not null,
  checksums jsonb not null,
  encryption jsonb,
  blob uuid not null,
  modified_at timestamptz not null,
  primary key (upload, number)
);

-- The blobs that rows name, and how many do: a copy shares its source's.
create table blobs (
  id uuid primary key,
  location text not null,
  size bigint not null,
  -- Of the stored bytes; the scrubber and the mover compare it.
  checksum text not null,
  refs integer not null check (refs > 0)
);
create index blobs_by_location on blobs (location, id);
-- Blobs that no row names any more. They stay for an hour, so that running reads come to their end.
create table blob_garbage (
  location text not null,
  id uuid not null,
  size bigint not null,
  since timestamptz not null,
  primary key (location, id)
);
create index blob_garbage_by_age on blob_garbage (since);

-- Stored bytes of a bucket, in up to 1024 rows: a put changes the one whose lock it holds anyway, so
-- that puts do not wait for each other and the charge of each minute need not read all objects.
create table bucket_usage (
  bucket integer not null,
  stripe integer not null,
  bytes bigint not null,
  versions bigint not null,
  primary key (bucket, stripe)
) with (fillfactor = 50);

-- What happened to objects of buckets with notifications, in the transaction in which it happened.
create table storage_events (
  id bigint primary key generated always as identity,
  bucket integer not null,
  name text not null,
  key text not null,
  version_id text not null,
  size bigint not null,
  etag text not null,
  at timestamptz not null
);

-- How far the upkeep has come: scrub, sweep, lifecycle, mover.
create table storage_upkeep (
  task text primary key,
  place jsonb,
  at timestamptz not null default now()
);

-- What a write answers: a code of storage/errors.ts, or the version it made.
create type storage_written as (refused text, version_id text, modified_ms bigint);
