-- Object storage: buckets, versions of objects, uploads in parts, the blobs that hold large bodies, events and
-- what is charged for stored bytes. Functions that change these tables are in objects/sql. Rows name a bucket
-- without a foreign key: its check would lock the bucket's row for each object; the functions hold an
-- advisory lock instead.

create table buckets (
  id integer primary key generated always as identity,
  name text collate "C" not null unique,
  account text collate "C" not null references accounts (id),
  region text not null,
  created_at timestamptz not null default now(),
  versioning text not null default 'off' check (versioning in ('off', 'enabled', 'suspended')),
  object_lock boolean not null default false check (not object_lock or versioning = 'enabled'),
  -- One document of each kind (acl, policy, cors, lifecycle …), in the form of the protocol.
  configurations jsonb not null default '{}',
  -- The number of changes of the configurations. A request asks for the edition, and gateways keep the
  -- documents: a small read must not fetch two megabytes of lifecycle rules.
  edition bigint not null default 0,
  -- The part of the configurations that each write must know.
  notification jsonb generated always as (configurations -> 'notification') stored,
  -- Bytes of the documents. A bucket without documents has `{}`.
  documents_bytes bigint generated always as (octet_length(configurations::text) - 2) stored,
  -- Events that were dropped: their number, and the greatest pair of transaction and id among them.
  events_dropped bigint not null default 0,
  events_dropped_to bigint not null default 0,
  events_dropped_transaction xid8 not null default '0'
);
create index buckets_by_account on buckets (account, name);

create sequence object_seq;

create table object_versions (
  bucket integer not null,
  -- The bytes of UTF-8 in order: S3's order of a listing.
  key text collate "C" not null,
  -- Of two versions of a key the greater number is the newer version.
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
  -- Null while a legal hold was never set.
  legal_hold boolean,
  encryption jsonb,
  storage_class text not null default 'STANDARD',
  owner text collate "C" not null,
  modified_at timestamptz not null,
  -- A body is in the row or in blobs: [{number, size, etag, checksums, encryption, blob}].
  inline bytea,
  parts jsonb,
  -- 0 for an object that was not uploaded in parts.
  part_count integer not null default 0,
  -- {sheet, key, count, bytes, changed}. Null while the version never had an annotation.
  annotations jsonb
  -- No checks: the server parses each check anew for each statement, which was 4 % of a put.
) with (fillfactor = 90);
-- Bodies rarely compress, and trying costs more than the whole insert.
alter table object_versions alter column inline set storage external;
create unique index object_versions_by_key on object_versions (bucket, key, seq desc);
create unique index object_versions_listed on object_versions (bucket, key)
  where is_latest and not delete_marker;
-- The `null` version of a key, when another version is the latest.
create unique index object_versions_null on object_versions (bucket, key)
  where version_id = 'null' and not is_latest;

-- Named texts beside the body of a version. The annotations of a version are a sheet. When the version goes,
-- its sheet becomes garbage and is removed later, in pieces: removing a thousand rows of 1 MiB takes
-- seconds, and the lock of a key is held for milliseconds.
create table object_annotations (
  sheet bigint not null,
  name text collate "C" not null,
  size integer not null,
  etag text collate "C" not null,
  checksums jsonb not null,
  modified_at timestamptz not null,
  -- With the sheet's salt, the source of the key of this row.
  salt bytea not null,
  -- Encrypted.
  body bytea not null,
  primary key (sheet, name)
);
-- Encrypted bytes do not compress.
alter table object_annotations alter column body set storage external;

-- Sheets that no version names: dropped, or not named yet by the copy that fills them.
create table annotation_garbage (
  sheet bigint primary key,
  since timestamptz not null
);
create index annotation_garbage_by_age on annotation_garbage (since);

create table uploads (
  id text collate "C" primary key,
  bucket integer not null,
  key text collate "C" not null check (octet_length(key) between 1 and 1024),
  initiator text collate "C" not null,
  initiated_at timestamptz not null,
  -- UploadAttributes of objects/types.ts.
  attributes jsonb not null,
  -- The answer to Complete: the same Complete gets the same answer for a day.
  completed jsonb,
  completed_at timestamptz,
  own_bytes bigint generated always as (octet_length(key) + octet_length(attributes::text)) stored
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

-- The blobs that rows name, and the number of those rows: a copy shares its source's blobs.
create table blobs (
  id uuid primary key,
  location text not null,
  size bigint not null,
  -- Of the stored bytes, for the scrubber and the mover.
  checksum text not null,
  refs integer not null check (refs > 0)
);
create index blobs_by_location on blobs (location, id);

-- Blobs that no row names any more. They stay for an hour, so that running reads can end.
create table blob_garbage (
  location text not null,
  id uuid not null,
  size bigint not null,
  since timestamptz not null,
  primary key (location, id)
);
create index blob_garbage_by_age on blob_garbage (since);

-- Stored bytes of a bucket, in up to 1024 rows. A put changes the row whose lock the put holds anyway, so puts do not
-- wait for each other, and the charge of each minute need not read all objects. Open uploads count in rows below 0
-- (storage_count_upload).
create table bucket_usage (
  bucket integer not null,
  stripe integer not null,
  bytes bigint not null,
  versions bigint not null,
  uploads integer not null default 0,
  primary key (bucket, stripe)
) with (fillfactor = 50);

-- The part of its balance that an account must keep so that more may be stored.
create table storage_reserves (
  account text collate "C" primary key references accounts (id),
  pusd numeric(38, 0) not null
);

-- Events of objects in buckets with notifications, written in the transaction of the change. Ids are given
-- before a transaction commits, so readers read only events older than every running transaction, in the
-- order of transaction and id, and miss none.
create table storage_events (
  id bigint primary key generated always as identity,
  bucket integer not null,
  name text not null,
  key text not null,
  version_id text not null,
  size bigint not null,
  etag text not null,
  at timestamptz not null,
  -- The rule that wants the event.
  rule text not null default '',
  transaction xid8 not null default pg_current_xact_id()
);
create index storage_events_by_bucket on storage_events (bucket, transaction, id);
create index storage_events_by_age on storage_events (at);

-- Named keys for SSE-KMS that were rotated: the current version, and the least version of all envelopes after the
-- last complete round over them. A key without a row has version 1.
create table storage_keys (
  name text collate "C" primary key,
  version integer not null check (version > 1),
  wrapped integer not null default 1,
  rotated_at timestamptz not null default now()
);

-- Progress of upkeep: scrub, sweep, lifecycle, mover.
create table storage_upkeep (
  task text primary key,
  place jsonb,
  at timestamptz not null default now()
);

-- The result of a write: a code of contract/storage-errors.ts, or the version that the write made, and the blobs that
-- the transaction released.
create type storage_written as (refused text, version_id text, modified_ms bigint, freed uuid[]);

-- A bucket without its documents, for the functions that change objects.
create type storage_home as (id integer, account text, versioning text, notification jsonb);
