-- Listings. Keys are compared as bytes (collation C). A comparison with a column has the collation of the column; one of
-- two parameters names C, as the database may order texts by a language. Without a delimiter a page is one range of an index. Under a
-- delimiter one index descent finds each entry and skips the rest of its common prefix. So 1000 prefixes cost the
-- same in a bucket of a thousand keys and of a million: 8 ms of CPU, against 1.1 ms for 1000 plain keys. A page of
-- objects with the delimiter `/` is mostly a range of the table of folders, or of the index without a descent for each.

-- Greater than every key with the prefix: a key has at most 1024 bytes, and this text has 1028 more of the greatest
-- character.
create or replace function storage_beyond(prefix text) returns text language sql immutable as $$
  select prefix || repeat(chr(1114111), 257)
$$;

-- The least key after a key: no key contains NUL.
create or replace function storage_next(after text) returns text language sql immutable as $$
  select after || chr(1)
$$;

-- The common prefix that a key is part of, or null.
create or replace function storage_common(object_key text, prefix text, delimiter text)
returns text language sql immutable as $$
  select case when delimiter <> '' and starts_with(object_key, prefix)
    and strpos(substr(object_key, length(prefix) + 1), delimiter) > 0
  then left(object_key, length(prefix) + length(delimiter) - 1
    + strpos(substr(object_key, length(prefix) + 1), delimiter)) end
$$;

-- The first possible key of a page: after a key, after the common prefix of that key, or at the prefix.
create or replace function storage_from(after text, prefix text, delimiter text)
returns text language sql immutable as $$
  select greatest(prefix collate "C", case when after = '' then '' else coalesce(
    storage_beyond(storage_common(after, prefix, delimiter)), storage_next(after)) end)
$$;

-- Pages of releases whose rows were arrays, and of releases in which each folder was a row.
drop function if exists storage_list(int, text, text, text, int);
drop function if exists storage_list_objects(int, text, text, text, int);

-- The algorithm of a checksum is the key beside `type`. Empty: there is none.
create or replace function storage_algorithm(checksums jsonb) returns text language plpgsql immutable as $$
begin
  return coalesce((select k from jsonb_object_keys(checksums) k where k <> 'type' limit 1), '');
end $$;

-- The entry of an object in a page, between tabs: size, milliseconds, traits, ETag. The traits are storage class, owner,
-- type and algorithm of the checksum, between spaces. A text of them takes both sides less CPU than a column each, and
-- a client reads the traits of neighbours once.
create or replace function storage_entry(v object_versions) returns text language sql stable as $$
  select v.size || chr(9) || (date_part('epoch', v.modified_at) * 1000)::bigint || chr(9) || v.storage_class || ' '
    || v.owner || ' ' || case
      when not v.checksums ? 'type' then ' '
      when v.checksums ? 'CRC64NVME' then (v.checksums ->> 'type') || ' CRC64NVME'
      else (v.checksums ->> 'type') || ' ' || storage_algorithm(v.checksums) end
    || chr(9) || v.etag
$$;

-- The entry of a version: that of an object, the id of the version, and the letters of its kind: `l` for the latest, `d`
-- for a delete marker.
create or replace function storage_version_entry(v object_versions) returns text language sql stable as $$
  select storage_entry(v) || chr(9) || v.version_id || chr(9)
    || case when v.is_latest then 'l' else '' end || case when v.delete_marker then 'd' else '' end
$$;

-- A key with its entry, or a common prefix without one: only the index is read for it. A page of folders alone is one
-- row: the names below the parent, each of which ends with its only slash, and the parent behind a slash as the entry.
-- As rows, 200 folders took the server and its reader a quarter more.
create or replace function storage_list_keys(bucket_id int, prefix text, delimiter text, after text, most int)
returns table (key text, entry text)
language plpgsql stable set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  low constant text := storage_from(after, prefix, delimiter);
  high constant text := storage_beyond(prefix);
  base constant text := coalesce(substring(prefix from '^.*/'), '');
  from_name constant text := substr(low, length(base) + 1);
  to_name constant text := storage_beyond(substr(prefix, length(base) + 1));
  is_plain boolean := delimiter = '';
  has_own_keys boolean;
begin
  if delimiter = '/' and starts_with(low, base) and storage_keeps_folders(base) then
    -- Elsewhere the row of own keys is the first of the range.
    if from_name <> '' then
      has_own_keys := exists (
        select from object_folders f where f.bucket = bucket_id and f.parent = base and f.name = '');
    end if;
    select string_agg(n.name, ''), coalesce(has_own_keys, bool_or(n.name = ''), false) into key, has_own_keys
    from (
      select f.name from object_folders f
      where f.bucket = bucket_id and f.parent = base and f.name >= from_name and f.name < to_name
      order by f.name limit most
    ) n;
    if not has_own_keys then
      entry := '/' || base;
      if key is not null then return next; end if;
      return;
    end if;
    is_plain := coalesce(key, '') = '';
  end if;
  if is_plain then
    return query select v.key, storage_entry(v)
    from object_versions v
    where v.bucket = bucket_id and v.is_latest and not v.delete_marker and v.key >= low and v.key < high
    order by v.key limit most;
    return;
  end if;
  return query with recursive walk (n, key, common) as (
    (select 1, v.key, storage_common(v.key, prefix, delimiter)
    from object_versions v
    where v.bucket = bucket_id and v.is_latest and not v.delete_marker and v.key >= low and v.key < high
    order by v.key limit 1)
    union all
    select walk.n + 1, next.key, storage_common(next.key, prefix, delimiter)
    from walk, lateral (
      select v.key from object_versions v
      where v.bucket = bucket_id and v.is_latest and not v.delete_marker and v.key < high
        and v.key >= coalesce(storage_beyond(walk.common), storage_next(walk.key))
      order by v.key limit 1
    ) next
    where walk.n < most
  )
  select coalesce(w.common, w.key), case when w.common is null then (
    select storage_entry(v) from object_versions v
    where v.bucket = bucket_id and v.is_latest and not v.delete_marker and v.key = w.key) end
  from walk w;
end $$;

-- The same of versions, newest first within a key; `after_seq` goes on within the key `after`.
create or replace function storage_list_versions(
  bucket_id int, prefix text, delimiter text, after text, after_seq bigint, most int)
returns table (seq bigint, key text, entry text)
language plpgsql stable set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  high constant text := storage_beyond(prefix);
  rest constant boolean := after_seq is not null and starts_with(after, prefix)
    and storage_common(after, prefix, delimiter) is null;
  low constant text := storage_from(after, prefix, delimiter);
begin
  if delimiter = '' then
    return query select v.seq, v.key, storage_version_entry(v)
    from object_versions v
    where v.bucket = bucket_id and v.key >= case when rest then after else low end and v.key < high
      and (not rest or v.key > after or v.seq < after_seq)
    order by v.key, v.seq desc limit most;
    return;
  end if;
  return query with recursive walk (n, seq, key, common) as (
    (select 1, first.* from (
      (select v.seq, v.key, storage_common(v.key, prefix, delimiter) from object_versions v
      where rest and v.bucket = bucket_id and v.key = after and v.seq < after_seq order by v.seq desc limit 1)
      union all
      (select v.seq, v.key, storage_common(v.key, prefix, delimiter) from object_versions v
      where v.bucket = bucket_id and v.key >= low and v.key < high order by v.key, v.seq desc limit 1)
    ) first limit 1)
    union all
    select walk.n + 1, next.* from walk, lateral (
      (select v.seq, v.key, walk.common from object_versions v
      where walk.common is null and v.bucket = bucket_id and v.key = walk.key and v.seq < walk.seq
      order by v.seq desc limit 1)
      union all
      (select v.seq, v.key, storage_common(v.key, prefix, delimiter) from object_versions v
      where v.bucket = bucket_id and v.key < high
        and v.key >= coalesce(storage_beyond(walk.common), storage_next(walk.key))
      order by v.key, v.seq desc limit 1)
      limit 1
    ) next
    where walk.n < most
  )
  select w.seq, coalesce(w.common, w.key), case when w.common is null then (
    select storage_version_entry(v) from object_versions v
    where v.bucket = bucket_id and v.key = w.key and v.seq = w.seq) end
  from walk w;
end $$;

-- The id of a common prefix is an empty text.
create or replace function storage_list_uploads(
  bucket_id int, prefix text, delimiter text, after text, after_upload text, most int)
returns table (key text, id text, initiator text, initiated_at timestamptz, attributes jsonb)
language plpgsql stable set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  high constant text := storage_beyond(prefix);
  rest constant boolean := after_upload <> '' and starts_with(after, prefix)
    and storage_common(after, prefix, delimiter) is null;
  low constant text := case when rest then after else storage_from(after, prefix, delimiter) end;
begin
  return query with recursive walk (n, key, common, id, initiator, initiated_at, attributes) as (
    (select 1, u.key, storage_common(u.key, prefix, delimiter), u.id, u.initiator, u.initiated_at, u.attributes
    from uploads u
    where u.completed is null and u.bucket = bucket_id and u.key < high
      and (u.key, u.id) > (low, case when rest then after_upload else '' end)
    order by u.key, u.id limit 1)
    union all
    select walk.n + 1, next.* from walk, lateral (
      select u.key, storage_common(u.key, prefix, delimiter), u.id, u.initiator, u.initiated_at, u.attributes
      from uploads u
      where u.completed is null and u.bucket = bucket_id and u.key < high
        and (u.key, u.id) > (coalesce(storage_beyond(walk.common), walk.key),
          case when walk.common is null then walk.id else '' end)
      order by u.key, u.id limit 1
    ) next
    where walk.n < most
  )
  select coalesce(w.common, w.key), case when w.common is null then w.id else '' end, w.initiator, w.initiated_at,
    w.attributes
  from walk w;
end $$;
