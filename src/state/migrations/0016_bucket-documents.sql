-- A request must not read two megabytes of lifecycle rules to find a small object: it asks which edition of
-- the configurations there is, and gateways keep what they read of it.
alter table buckets
  add column edition bigint not null default 0,
  -- What each write must know of them.
  add column notification jsonb generated always as (configurations -> 'notification') stored;

-- A bucket as those functions know it that change objects, without its documents.
create type storage_home as (id integer, account text, versioning text, notification jsonb);
-- They took and gave the bucket's row.
drop function if exists storage_enter(int);
drop function if exists storage_commit(buckets, text, jsonb, bytea);
drop function if exists storage_delete_latest(buckets, text, jsonb);
drop function if exists storage_delete_version(buckets, text, text, jsonb, boolean);
drop function if exists storage_tell(buckets, text, text, text, bigint, text);
