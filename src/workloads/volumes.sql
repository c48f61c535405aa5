-- Volumes of workloads. A version names those that it mounts; the volumes themselves are of the workload.

-- Wants the volumes that a request for a version names. The others are dropped from that version on. Raises EG026 for a size
-- smaller than that of the file, and EG027 for a volume with a file that is left out and not among those that may be deleted.
create or replace function keep_workload_volumes(of_id text, of_version int, wanted jsonb, deletable jsonb) returns void
language plpgsql as $$
declare
  refused text;
begin
  select v.name into refused from workload_volumes v
    join jsonb_to_recordset(wanted) as w (name text, size_bytes bigint) on w.name = v.name
    where v.workload = of_id and w.size_bytes < v.size_bytes order by 1 limit 1;
  if found then raise exception '%', refused using errcode = 'EG026'; end if;
  select v.name into refused from workload_volumes v
    where v.workload = of_id and v.dropped_by is null and v.size_bytes > 0 and not deletable ? v.name
      and not exists (select from jsonb_to_recordset(wanted) as w (name text) where w.name = v.name) order by 1 limit 1;
  if found then raise exception '%', refused using errcode = 'EG027'; end if;
  insert into workload_volumes (id, workload, name, created_at)
    select new_id('vol', ledger_now()), of_id, w.name, ledger_now() from jsonb_to_recordset(wanted) as w (name text)
    on conflict (workload, name) do update set dropped_by = null;
  update workload_volumes v set dropped_by = of_version where v.workload = of_id
    and not exists (select from jsonb_to_recordset(wanted) as w (name text) where w.name = v.name);
end $$;

-- Raises EG028 where a workload with a volume may have several instances: one alone can mount a volume.
create or replace function assert_one_instance(of_id text) returns void language plpgsql as $$
begin
  if exists (select from workloads w join resources n using (id)
      join workload_versions v on v.workload = w.id and v.version in (n.version, n.live_version)
      where w.id = of_id and w.scale_max > 1 and v.volumes <> '[]') then
    raise exception 'several instances' using errcode = 'EG028';
  end if;
end $$;

-- True where each volume of a version is there.
create or replace function has_volumes(v workload_versions) returns boolean language sql stable as $$
  select not exists (select from jsonb_to_recordset(v.volumes) as m (name text)
    where not exists (select from workload_volumes o where o.workload = v.workload and o.name = m.name))
$$;

-- Notes the sizes of a version's volumes before their files are made or grown. The quota counts these sizes from then on,
-- so a request that comes meanwhile is limited by them. Returns the mounted volumes with `before` and `bytes`. Returns null
-- for a version that is neither wanted nor live: no quota counts its volumes. Other changes of the account's volumes wait.
-- With `of_volumes` the others of the version stay as they are.
create or replace function hold_volume_sizes(of_id text, of_version int, of_volumes text[] default null) returns jsonb language plpgsql as $$
declare
  held jsonb;
begin
  perform pg_advisory_xact_lock(4207714, hashtext(account)) from resources where id = of_id;
  if not exists (select from resources where id = of_id and of_version in (version, live_version)) then return null; end if;
  select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'before', o.size_bytes, 'bytes', greatest(o.size_bytes, m.size_bytes))
      order by o.name), '[]') into held
    from workload_versions v, jsonb_to_recordset(v.volumes) as m (name text, size_bytes bigint), workload_volumes o
    where v.workload = of_id and v.version = of_version and o.workload = of_id and o.name = m.name
      and (of_volumes is null or o.id = any (of_volumes));
  perform set_volume_sizes(held, 'before', 'bytes');
  return held;
end $$;

-- Sets the sizes of volumes that have those of one field of `held` to those of another.
create or replace function set_volume_sizes(held jsonb, was text, becomes text) returns void language sql as $$
  update workload_volumes o set size_bytes = (h ->> becomes)::bigint from jsonb_array_elements(held) as h
  where o.id = h ->> 'id' and o.size_bytes = (h ->> was)::bigint and h ->> was <> h ->> becomes
$$;

-- The volumes of a workload, with their paths in a version: its own sizes, where it needs the files to grow.
create or replace function volumes_of(v workload_versions) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'name', o.name, 'path', m.path,
    'size_bytes', greatest(o.size_bytes, m.size_bytes), 'used_bytes', o.used_bytes) order by o.name), '[]')
  from workload_volumes o left join jsonb_to_recordset(v.volumes) as m (name text, path text, size_bytes bigint) on m.name = o.name
  where o.workload = v.workload
$$;

-- The bytes that the volumes of an account may grow to: by the size of each file, or by that of a version that is wanted or
-- live. A deleted volume counts until its file is gone. Others that change them wait for the end of the transaction.
create or replace function account_volume_bytes(of_account text) returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4207714, hashtext(of_account));
  return (select coalesce(sum(greatest(o.size_bytes, (
      select max(m.size_bytes) from workload_versions v, jsonb_to_recordset(v.volumes) as m (name text, size_bytes bigint)
      where v.workload = o.workload and v.version in (n.version, n.live_version) and m.name = o.name))), 0)
    from workload_volumes o join resources n on n.id = o.workload where n.account = of_account);
end $$;

-- Notes what the volumes take of the disk.
create or replace function note_volume_bytes(ids text[], bytes bigint[]) returns void language sql as $$
  update workload_volumes v set used_bytes = u.bytes from unnest(ids, bytes) as u (id, bytes)
  where v.id = u.id and v.used_bytes <> u.bytes
$$;

-- Samples the workloads for the standing charge of their volumes; see standing_look().
create or replace function workload_look(minute_ms bigint, asked text[], zj_per_byte_ms numeric)
returns table (id text, name text, account text, bytes numeric, energy_nj numeric, from_ms bigint, to_ms bigint)
language sql as $$
  select l.* from (
    select array_agg(n.id) as ids, array_agg(n.name) as names, array_agg(n.account) as accounts,
      array_agg((select coalesce(sum(v.used_bytes), 0) from workload_volumes v where v.workload = n.id)::numeric) as stored
    from resources n where n.id = any (asked) and n.desired <> 'deleted'
  ) p, lateral standing_look('workload', minute_ms, zj_per_byte_ms, asked, p.ids, p.names, p.accounts, p.stored) l
$$;
