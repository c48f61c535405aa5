-- Commits versions. `written` is `Attributes` of types.ts with `parts`, `blobs`, `partCount`, `conditions`, `share`,
-- `event` and `annotations` (for a copy: a filled sheet). For several versions it is an array.

-- Commits several versions in the order of their locks, each as if it came alone. `bodies` has the inline bodies one
-- after the other; `starts` and `lengths` are in bytes, and null for bodies in blobs.
create or replace function storage_put_all(
  bucket_ids int[], keys text[], written jsonb, bodies bytea, starts int[], lengths int[])
returns table (n int, refused text, version_id text, modified_ms bigint) language plpgsql as $$
declare
  one record;
  home storage_home;
  answer storage_written;
  freed uuid[] := '{}';
  done int[] := '{}';
  ids text[];
  times bigint[];
  busy int[];
begin
  -- Puts of a bucket that is being deleted are refused: those of other buckets do not wait for it.
  select array_agg(b.id) filter (where not pg_try_advisory_xact_lock_shared(4207710, b.id)) into busy
  from (select distinct id from unnest(bucket_ids) id) b;
  if busy is not null then
    return query select g.n::int, 'BucketBusy', null::text, null::bigint
    from unnest(bucket_ids) with ordinality g (id, n) where g.id = any (busy);
    bucket_ids := array(select case when g.id <> all (busy) then g.id end
      from unnest(bucket_ids) with ordinality g (id, n) order by g.n);
  end if;
  perform pg_advisory_xact_lock(4207711, s.stripe) from (
    select storage_stripe(g.bucket_id, g.key) as stripe
    from unnest(bucket_ids, keys) with ordinality g (bucket_id, key, n) order by stripe, g.n) s;
  perform storage_enter_folders(bucket_ids, keys, written);
  -- The loop below is cheaper for one or two objects: the set-based form took 64 µs more for one.
  if cardinality(keys) > 2 then
    -- A new snapshot, which has the rows that the last holders of the locks have committed.
    select p.done, p.ids, p.times into done, ids, times
    from storage_put_plain(bucket_ids, keys, written, bodies, starts, lengths) p;
    return query select p.n, null::text, p.id, p.ms from unnest(done, ids, times) p (n, id, ms);
    if cardinality(done) = cardinality(keys) then return; end if;
  end if;
  for one in
    select g.bucket_id, g.key, g.start, g.length, g.n::int
    from unnest(bucket_ids, keys, starts, lengths) with ordinality g (bucket_id, key, start, length, n)
    where g.bucket_id is not null and g.n <> all (done) order by storage_stripe(g.bucket_id, g.key), g.n
  loop
    home := storage_enter(one.bucket_id);
    if home.id is null then
      answer := row('NoSuchBucket', null, null, null)::storage_written;
    else
      answer := storage_commit(home, one.key, written -> (one.n - 1),
        substring(bodies from one.start for one.length));
    end if;
    freed := freed || answer.freed;
    return query select one.n, answer.refused, answer.version_id, answer.modified_ms;
  end loop;
  if freed <> '{}' then perform storage_release(freed); end if;
end $$;

-- Commits the plain ones among several versions in one statement. A plain version has an inline body without conditions
-- and annotations, its bucket tells nobody, and its key is new or its latest version is replaced in its row. The caller
-- holds the locks, and commits the others one by one.
create or replace function storage_put_plain(
  bucket_ids int[], keys text[], written jsonb, bodies bytea, starts int[], lengths int[],
  out done int[], out ids text[], out times bigint[])
language plpgsql as $$
begin
  with given as (
    select g.n::int, g.bucket_id, g.key, g.start, g.length, written -> (g.n - 1)::int as w,
      count(*) over (partition by g.bucket_id, g.key) as alike
    from unnest(bucket_ids, keys, starts, lengths) with ordinality g (bucket_id, key, start, length, n)
  ), plain as materialized (
    select g.*, b.versioning, v.seq as old_seq, case when v.seq is not null then storage_stored(v) end as old_stored,
      case when v.seq is null then nextval('object_seq') end as fresh, storage_now() as at
    from given g
    join buckets b on b.id = g.bucket_id
    left join lateral (
      select o.* from object_versions o where o.bucket = g.bucket_id and o.key = g.key order by o.seq desc limit 1
    ) v on true
    where g.alike = 1 and g.length is not null and not g.w ?| array['conditions', 'annotations', 'blobs']
      and b.notification is null and not b.followed
      and (v.seq is null
        or b.versioning <> 'enabled' and v.version_id = 'null' and v.parts is null and v.annotations is null)
  ), created as (
    insert into object_versions as v (bucket, key, seq, version_id, is_latest, size, etag, checksums, headers,
      metadata, tags, acl, retention_mode, retain_until, legal_hold, encryption, storage_class, owner,
      modified_at, inline, part_count)
    select p.bucket_id, p.key, p.fresh,
      case when p.versioning = 'enabled' then storage_version_id(p.fresh) else 'null' end, true,
      (p.w ->> 'size')::bigint, p.w ->> 'etag', p.w -> 'checksums', p.w -> 'headers', p.w -> 'metadata',
      p.w -> 'tags', nullif(p.w -> 'acl', 'null'), p.w #>> '{retention,mode}',
      storage_time(p.w #> '{retention,untilMs}'), (p.w ->> 'legalHold')::boolean,
      nullif(p.w -> 'encryption', 'null'), p.w ->> 'storageClass', p.w ->> 'owner', p.at,
      substring(bodies from p.start for p.length), (p.w ->> 'partCount')::int
    from plain p where p.old_seq is null
    returning v.bucket, v.key, v.version_id, storage_stored(v) as stored
  ), replaced as (
    update object_versions v set
      delete_marker = false, size = (p.w ->> 'size')::bigint, etag = p.w ->> 'etag',
      checksums = p.w -> 'checksums', headers = p.w -> 'headers', metadata = p.w -> 'metadata',
      tags = p.w -> 'tags', acl = nullif(p.w -> 'acl', 'null'),
      retention_mode = p.w #>> '{retention,mode}', retain_until = storage_time(p.w #> '{retention,untilMs}'),
      legal_hold = (p.w ->> 'legalHold')::boolean, encryption = nullif(p.w -> 'encryption', 'null'),
      storage_class = p.w ->> 'storageClass', owner = p.w ->> 'owner', modified_at = p.at,
      inline = substring(bodies from p.start for p.length), part_count = (p.w ->> 'partCount')::int
    from plain p where v.bucket = p.bucket_id and v.key = p.key and v.seq = p.old_seq
    returning v.bucket, v.key, v.version_id, storage_stored(v) as stored
  ), put as (
    select c.*, 1 as versions from created c union all select r.*, 0 from replaced r
  ), answered as (
    select p.n, p.at, p.bucket_id, p.key, u.version_id, u.versions, u.stored - coalesce(p.old_stored, 0) as bytes
    from put u join plain p on p.bucket_id = u.bucket and p.key = u.key
  ), counted as (
    insert into bucket_usage as u (bucket, stripe, bytes, versions)
    select a.bucket_id, storage_stripe(a.bucket_id, a.key), sum(a.bytes), sum(a.versions)
    from answered a group by 1, 2
    on conflict (bucket, stripe) do update set bytes = u.bytes + excluded.bytes,
      versions = u.versions + excluded.versions
  )
  select coalesce(array_agg(a.n), '{}'), array_agg(a.version_id), array_agg(storage_ms(a.at)) into done, ids, times
  from answered a;
end $$;

-- Commits one version for a caller that holds the locks and releases `freed`. `body` is an inline body.
create or replace function storage_commit(home storage_home, object_key text, written jsonb, body bytea)
returns storage_written language plpgsql as $$
declare
  latest record;
  at constant timestamptz := storage_now();
  fresh constant bigint := nextval('object_seq');
  version text := 'null';
  unmet text;
  in_place boolean := false;
  size_now constant bigint := (written ->> 'size')::bigint;
  stored_now bigint;
  freed uuid[];
begin
  select v.seq, v.version_id, v.delete_marker, v.etag, v.size, v.modified_at, v.parts, v.annotations,
    storage_stored(v) as stored into latest
  from object_versions v where v.bucket = home.id and v.key = object_key order by v.seq desc limit 1;
  if written -> 'conditions' is not null then
    unmet := case when latest.seq is null or latest.delete_marker
      then storage_unmet(written -> 'conditions', null, null, null)
      else storage_unmet(written -> 'conditions', latest.etag, latest.size, latest.modified_at) end;
    if unmet is not null then return row(unmet, null, null, null)::storage_written; end if;
  end if;
  if home.versioning = 'enabled' then
    version := storage_version_id(fresh);
  else
    in_place := coalesce(latest.version_id = 'null', false);
    if not in_place and latest.seq is not null then freed := storage_drop_null(home.id, object_key); end if;
    if in_place and latest.parts is not null then freed := storage_blobs_of(latest.parts); end if;
  end if;
  if freed is not null and (written ->> 'share')::boolean then
    -- Locks all of them at once: two copies that swap keys would deadlock otherwise.
    perform from blobs where id = any (
      freed || array(select (b ->> 'id')::uuid from jsonb_array_elements(written -> 'blobs') b))
    order by id for update;
  end if;
  if written -> 'blobs' is not null
    and not storage_hold(written -> 'blobs', coalesce((written ->> 'share')::boolean, false)) then
    -- The exception also undoes the references that were added.
    raise exception 'the source of the copy is gone' using errcode = 'ERG01';
  end if;

  if written -> 'annotations' is not null then
    -- The rows of an older sheet may be in removal already.
    delete from annotation_garbage where sheet = (written #>> '{annotations,sheet}')::bigint
      and since > clock_timestamp() - interval '30 minutes';
    if not found then raise exception 'the copied annotations are gone' using errcode = 'ERG01'; end if;
  end if;

  if in_place then
    if latest.annotations is not null then perform storage_drop_sheet(latest.annotations); end if;
    update object_versions v set
      delete_marker = false, size = size_now, etag = written ->> 'etag',
      checksums = written -> 'checksums', headers = written -> 'headers',
      metadata = written -> 'metadata', tags = written -> 'tags', acl = nullif(written -> 'acl', 'null'),
      retention_mode = written #>> '{retention,mode}',
      retain_until = storage_time(written #> '{retention,untilMs}'),
      legal_hold = (written ->> 'legalHold')::boolean,
      encryption = nullif(written -> 'encryption', 'null'), storage_class = written ->> 'storageClass',
      owner = written ->> 'owner', modified_at = at, inline = body, parts = written -> 'parts',
      part_count = (written ->> 'partCount')::int, annotations = written -> 'annotations'
    where v.bucket = home.id and v.key = object_key and v.seq = latest.seq
    returning storage_stored(v) into stored_now;
    perform storage_count(home.id, storage_stripe(home.id, object_key), stored_now - latest.stored, 0);
  else
    if latest.seq is not null then
      update object_versions v set is_latest = false
      where v.bucket = home.id and v.key = object_key and v.seq = latest.seq;
    end if;
    insert into object_versions as v (bucket, key, seq, version_id, is_latest, size, etag, checksums, headers,
      metadata, tags, acl, retention_mode, retain_until, legal_hold, encryption, storage_class, owner,
      modified_at, inline, parts, part_count, annotations)
    values (home.id, object_key, fresh, version, true, size_now, written ->> 'etag',
      written -> 'checksums', written -> 'headers', written -> 'metadata', written -> 'tags',
      nullif(written -> 'acl', 'null'), written #>> '{retention,mode}',
      storage_time(written #> '{retention,untilMs}'), (written ->> 'legalHold')::boolean,
      nullif(written -> 'encryption', 'null'), written ->> 'storageClass', written ->> 'owner', at,
      body, written -> 'parts', (written ->> 'partCount')::int, written -> 'annotations')
    returning storage_stored(v) into stored_now;
    perform storage_count(home.id, storage_stripe(home.id, object_key), stored_now, 1);
  end if;
  perform storage_tell(home, written ->> 'event', object_key, version, size_now, written ->> 'etag');
  return row(null, version, storage_ms(at), freed)::storage_written;
end $$;

-- Removes the `null` version where it is not the latest, and returns its blobs.
create or replace function storage_drop_null(bucket_id int, object_key text) returns uuid[] language plpgsql as $$
declare
  found_seq bigint;
begin
  select v.seq into found_seq from object_versions v
  where v.bucket = bucket_id and v.key = object_key and v.version_id = 'null' and not v.is_latest;
  return case when found_seq is not null then storage_remove(bucket_id, object_key, found_seq) end;
end $$;
