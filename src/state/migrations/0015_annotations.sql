-- Annotations of versions of objects: named texts beside the body. Those of one version are a sheet. When
-- the version goes its sheet becomes garbage and is removed later, in pieces: a thousand rows of 1 MiB take
-- seconds, and the lock of a key is held for milliseconds.
create table object_annotations (
  sheet bigint not null,
  name text collate "C" not null,
  size integer not null,
  etag text collate "C" not null,
  checksums jsonb not null,
  modified_at timestamptz not null,
  -- What its key follows from, with the sheet's.
  salt bytea not null,
  -- Encrypted.
  body bytea not null,
  primary key (sheet, name)
);
-- What is encrypted does not compress.
alter table object_annotations alter column body set storage external;

-- Sheets that no version names: dropped, or not named yet by the copy that is filling them.
create table annotation_garbage (
  sheet bigint primary key,
  since timestamptz not null
);
create index annotation_garbage_by_age on annotation_garbage (since);

-- {sheet, key, count, bytes, changed}, or null while there was never one.
alter table object_versions add column annotations jsonb;
-- It tells them from now on; a function's columns cannot be replaced.
drop function if exists storage_read(int, text, text);
