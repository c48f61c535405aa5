-- The table of folders: a row says that the parent has a key which is an object and lies below the name. So a page of
-- common prefixes is a range of this table, and not a descent of the index of keys for each prefix.
--
-- Locks, after those of keys and before those of blobs: a put holds each folder of its key shared; the deletion that
-- empties a folder holds the folder alone, and so does storage_forget_own_keys(). Deeper folders come first, so that a deletion can go on to the parent.
-- Of two deletions that take the last two keys of a folder, the second sees that the folder is empty.

create or replace function storage_depth(path text) returns int language sql immutable as $$
  select length(path) - length(replace(path, '/', ''))
$$;

-- True for a parent whose rows are kept. Without a limit a key of a thousand slashes would have a thousand rows.
create or replace function storage_keeps_folders(parent text) returns boolean language sql immutable as $$
  select octet_length(parent) <= 256 and storage_depth(parent) < 8
$$;

-- The rows of a key: a name below each parent, and the empty name below the last one.
create or replace function storage_folders_of(object_key text, out parents text[], out names text[])
language plpgsql immutable as $$
declare
  parent text := '';
  rest text := object_key;
  slash int;
begin
  loop
    slash := strpos(rest, '/');
    parents := parents || parent;
    names := names || left(rest, slash);
    exit when slash = 0;
    parent := parent || left(rest, slash);
    rest := substr(rest, slash + 1);
    exit when not storage_keeps_folders(parent);
  end loop;
end $$;

-- The folder that a key lies in, or an empty text: keys of a folder have the same rows.
create or replace function storage_folder_of(object_key text) returns text language sql immutable as $$
  select coalesce(substring(object_key from '^.*/'), '')
$$;

-- The number of the lock of a folder: deeper folders have greater numbers.
create or replace function storage_folder_lock(bucket_id int, path text) returns int language sql immutable as $$
  select storage_depth(path) * 1024 + (hashtextextended(path, bucket_id) & 1023)::int
$$;

-- No scan of a table here and in deletions: a connection keeps a plan of the time when the tables were small.

-- Makes the folders of keys that are about to be put, for a caller that holds the locks of the keys. A put with If-Match
-- makes none: where its object is, the folders are, and elsewhere the put is refused.
create or replace function storage_enter_folders(bucket_ids int[], keys text[], written jsonb)
returns void language plpgsql set enable_seqscan = off as $$
declare
  path text;
  before text;
  folders record;
  ids int[] := '{}';
  parents text[] := '{}';
  names text[] := '{}';
  locks int[] := '{}';
begin
  -- Mostly a put that comes alone finds that its folder has keys of its own, and so has rows. The lock of that folder is
  -- enough: until it is free the folder is not empty for anybody, and so are the folders above.
  path := storage_folder_of(keys[1]);
  if cardinality(keys) = 1 and bucket_ids[1] is not null and storage_keeps_folders(path) then
    perform pg_advisory_xact_lock_shared(4207721, storage_folder_lock(bucket_ids[1], path));
    if exists (select from object_folders o where o.bucket = bucket_ids[1] and o.parent = path and o.name = '') then
      return;
    end if;
  end if;
  for n in 1..cardinality(keys) loop
    path := storage_folder_of(keys[n]);
    -- Neighbours mostly lie in one folder.
    continue when bucket_ids[n] is null or n > 1 and path = before and bucket_ids[n] = bucket_ids[n - 1];
    before := path;
    if path = '' then
      ids := ids || bucket_ids[n];
      parents := parents || path;
      names := names || path;
      locks := locks || storage_folder_lock(bucket_ids[n], path);
      continue;
    end if;
    folders := storage_folders_of(path);
    for at in 1..cardinality(folders.names) loop
      ids := ids || bucket_ids[n];
      if folders.names[at] <> '' then
        locks := locks || storage_folder_lock(bucket_ids[n], folders.parents[at] || folders.names[at]);
      end if;
    end loop;
    parents := parents || folders.parents;
    names := names || folders.names;
  end loop;
  if cardinality(locks) = 1 then
    perform pg_advisory_xact_lock_shared(4207721, locks[1]);
  elsif locks <> '{}' then
    perform pg_advisory_xact_lock_shared(4207721, l.number) from (
      select distinct number from unnest(locks) number order by number desc offset 0) l;
  end if;
  -- Also after waiting for a lock, this statement sees the rows that the last holder has committed.
  perform from unnest(ids, parents, names) g (bucket, parent, name) where not exists (
    select from object_folders o where o.bucket = g.bucket and o.parent = g.parent and o.name = g.name);
  if not found then return; end if;
  insert into object_folders (bucket, parent, name)
  select distinct g.bucket_id, f.parent, f.name
  from unnest(bucket_ids, keys) with ordinality g (bucket_id, key, n)
  cross join lateral storage_folders_of(g.key) k cross join lateral unnest(k.parents, k.names) f (parent, name)
  where g.bucket_id in (select b.id from buckets b where b.id = any (bucket_ids))
    and not coalesce(written -> (g.n - 1)::int -> 'conditions' ? 'ifMatch', false)
  -- In one order, so that two batches cannot deadlock.
  order by 1, 2, 3
  on conflict do nothing;
end $$;

-- Takes the folders of these keys alone, for a deletion that may make objects of some of them.
create or replace function storage_lock_folders(bucket_id int, keys text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4207721, l.number) from (
    select distinct storage_folder_lock(bucket_id, f.parent || f.name) as number
    from unnest(keys) g (key) cross join lateral storage_folders_of(g.key) k
    cross join lateral unnest(k.parents, k.names) f (parent, name)
    where f.name <> '' order by number desc offset 0) l;
end $$;

-- True when a key of the folder is an object, whatever other transactions do: the stripe of the key is held until this
-- transaction ends. The search begins at `near`, the last of the deleted keys: before that key the index may have
-- entries of a million deleted ones.
create or replace function storage_holds_key(bucket_id int, path text, near text)
returns boolean language plpgsql as $$
declare
  low text := case when starts_with(near, path) then near else path end;
  found_key text;
begin
  for attempt in 1..5 loop
    select v.key into found_key from object_versions v
    where v.bucket = bucket_id and v.is_latest and not v.delete_marker
      and v.key >= low and v.key < storage_beyond(path) order by v.key limit 1;
    if found_key is null then
      exit when low <= path collate "C";
      low := path;
      continue;
    end if;
    if pg_try_advisory_xact_lock_shared(4207711, storage_stripe(bucket_id, found_key)) then
      -- A statement of its own: the snapshot of the condition above is older than the lock.
      perform from object_versions v
      where v.bucket = bucket_id and v.is_latest and not v.delete_marker and v.key = found_key;
      if found then return true; end if;
    end if;
    low := storage_next(found_key);
  end loop;
  return false;
end $$;

-- Removes the folders that are empty, for a caller that holds the locks of the keys. They were objects, and are none.
create or replace function storage_leave_folders(bucket_id int, keys text[]) returns void language plpgsql as $$
declare
  paths text[] := '{}';
  path text;
  above text;
  kept text;
  folders record;
  near constant text := (select max(k collate "C") from unnest(keys) k);
  level int;
begin
  -- The deepest folders with rows, later the parents of removed folders.
  for n in 1..cardinality(keys) loop
    continue when strpos(keys[n], '/') = 0;
    folders := storage_folders_of(storage_folder_of(keys[n]));
    path := folders.parents[cardinality(folders.names)] || folders.names[cardinality(folders.names)];
    if path <> all (paths) then paths := paths || path; end if;
  end loop;
  loop
    level := (select max(storage_depth(p)) from unnest(paths) p where level is null or storage_depth(p) < level);
    exit when level is null;
    for path in
      select p from unnest(paths) p where storage_depth(p) = level group by p
      order by storage_folder_lock(bucket_id, p) desc
    loop
      continue when storage_holds_key(bucket_id, path, near);
      perform pg_advisory_xact_lock(4207721, storage_folder_lock(bucket_id, path));
      -- By the order the planner takes the index, also where its statistics still say that the folder is large.
      select v.key into kept from object_versions v
      where v.bucket = bucket_id and v.is_latest and not v.delete_marker
        and v.key >= path and v.key < storage_beyond(path) order by v.key limit 1;
      continue when kept is not null;
      above := storage_folder_of(left(path, -1));
      delete from object_folders o
      where o.bucket = bucket_id and o.parent = above and o.name = substr(path, length(above) + 1);
      delete from object_folders o where o.bucket = bucket_id and o.parent = path;
      if above <> '' then paths := paths || above; end if;
    end loop;
  end loop;
end $$;

-- Makes the rows of a key right, for the check of folders (upkeep/check-folders.ts): those of an object are made, and
-- those of folders that hold no object are removed.
create or replace function storage_mend_folders(bucket_id int, object_key text) returns void language plpgsql as $$
begin
  perform storage_enter(bucket_id);
  perform storage_lock(bucket_id, object_key);
  if storage_objects_of(bucket_id, array[object_key]) = '{}' then
    perform storage_leave_folders(bucket_id, array[object_key]);
  else
    -- Twice: for a key alone only the row of its own folder is looked at.
    perform storage_enter_folders(array[bucket_id, bucket_id], array[object_key, object_key], '[]');
  end if;
end $$;

-- True when a key lies in the folder itself. After `most` folders below it without one the answer is true as well.
create or replace function storage_has_own_key(bucket_id int, path text, most int)
returns boolean language plpgsql stable set enable_seqscan = off as $$
declare
  low text := path;
  found_key text;
  slash int;
begin
  for step in 1..most loop
    select v.key into found_key from object_versions v
    where v.bucket = bucket_id and v.is_latest and not v.delete_marker
      and v.key >= low and v.key < storage_beyond(path) order by v.key limit 1;
    if found_key is null then return false; end if;
    slash := strpos(substr(found_key, length(path) + 1), '/');
    if slash = 0 then return true; end if;
    low := storage_beyond(left(found_key, length(path) + slash));
  end loop;
  return true;
end $$;

-- Removes the row that says that a folder may have keys of its own, where it has none: its pages are a range again. No
-- put waits behind this one: while one holds the folder, the row stays until the next check.
create or replace function storage_forget_own_keys(bucket_id int, path text, most int) returns void language plpgsql as $$
begin
  perform storage_enter(bucket_id);
  if not pg_try_advisory_xact_lock(4207721, storage_folder_lock(bucket_id, path)) then return; end if;
  -- Statements of their own: they see what the last holder of the lock has committed.
  if storage_has_own_key(bucket_id, path, most) then return; end if;
  delete from object_folders o where o.bucket = bucket_id and o.parent = path and o.name = '';
end $$;
