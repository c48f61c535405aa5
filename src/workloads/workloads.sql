-- Workloads: their versions, which of them is wanted, their hosts, and their events.

-- Routes the hosts of a workload, and tells the ingress its scale. Raises EG023 or unique_violation for a host that another resource has.
create or replace function route_workload(of_id text) returns void language sql as $$
  -- The next statement reads what the last change of the hosts left.
  select from resources where id = of_id for update;
  select set_routes(of_id, (select jsonb_agg(jsonb_build_object('host', h, 'path', '/', 'timeout_s', 3600,
      'scale', jsonb_build_object('min', w.scale_min, 'max', w.scale_max, 'target', w.target_requests)))
    from unnest(array_prepend(w.host, n.hosts)) as h))
    from workloads w join resources n using (id) where w.id = of_id and n.desired <> 'deleted'
$$;

-- Adds a version: the fields of the last one, and above them those that are wanted.
create or replace function add_workload_version(of_id text, given jsonb, kept_versions int) returns void
language plpgsql as $$
declare
  next constant int := add_version(of_id, kept_versions);
begin
  insert into workload_versions (workload, version, image, port, command, env_names, secret_names, sealed_env, sealed_secrets,
    cpu_milli, memory_bytes, health, volumes)
  select of_id, next, r.image, r.port, r.command, r.env_names, r.secret_names, r.sealed_env, r.sealed_secrets,
    r.cpu_milli, r.memory_bytes, nullif(r.health, 'null'), r.volumes
  from jsonb_populate_record(null::workload_versions, given) r;
  if given ? 'deletable_volumes' then
    perform keep_workload_volumes(of_id, next, given -> 'volumes', given -> 'deletable_volumes');
  end if;
end $$;

-- Changes a workload: `wanted` has fields of a version, which make another one, and those of the workload itself.
create or replace function change_workload(of_id text, wanted jsonb, kept_versions int) returns void language plpgsql as $$
declare
  of_version constant jsonb := wanted - array['scale_min', 'scale_max', 'target_requests', 'sleep_after_ms'];
  before workloads;
  after workloads;
begin
  select * into before from workloads where id = of_id for update;
  if of_version <> '{}' then
    perform add_workload_version(of_id, to_jsonb(v) || of_version, kept_versions)
      from resources n join workload_versions v on v.workload = n.id and v.version = n.version where n.id = of_id;
  end if;
  update workloads w set scale_min = r.scale_min, scale_max = r.scale_max, target_requests = r.target_requests,
    sleep_after_ms = r.sleep_after_ms
    from jsonb_populate_record(before, wanted) r where w.id = of_id returning w.* into after;
  perform assert_one_instance(of_id);
  if (after.scale_min, after.scale_max, after.target_requests)
    <> (before.scale_min, before.scale_max, before.target_requests) then
    perform route_workload(of_id);
  end if;
  if (after.scale_min, after.scale_max) <> (before.scale_min, before.scale_max) then
    perform tell_workload_scaled(of_id, workload_instances(of_id));
  end if;
end $$;

-- Tells the account that the limits of a workload changed, or its number of instances.
create or replace function tell_workload_scaled(of_id text, running bigint) returns void language sql as $$
  select emit_event(w.account, 'workload.scaled', jsonb_build_object('workload_id', w.id, 'workload_name', n.name,
    'min', w.scale_min, 'max', w.scale_max, 'instances', running))
  from workloads w join resources n using (id) where w.id = of_id and n.desired <> 'deleted'
$$;

-- Tells the account that another number of instances runs than its last event says.
create or replace function tell_workload_instances(of_id text, running bigint) returns void language plpgsql as $$
begin
  update workloads set instances_told = greatest(running, 1) where id = of_id and instances_told <> greatest(running, 1);
  if found then
    perform tell_workload_scaled(of_id, running);
  end if;
end $$;

-- The least instances of all workloads of an account; others that change them wait for the end of the transaction.
create or replace function least_instances(of_account text) returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4207714, hashtext(of_account));
  return (select coalesce(sum(w.scale_min), 0) from workloads w join resources n using (id)
    where w.account = of_account and n.desired <> 'deleted');
end $$;

-- The instances that run now.
create or replace function workload_instances(of_id text) returns bigint language sql stable as $$
  select count(*) from resource_intervals where resource = of_id and to_at is null
$$;

-- Deploys a workload: a new one by `defaults` and what is wanted, another version of one that is there. Returns the id.
create or replace function deploy_workload(of_account text, of_name text, in_region text, most int, below text,
  defaults jsonb, wanted jsonb, kept_versions int) returns text language plpgsql as $$
declare
  of_id text;
  given jsonb;
begin
  perform pg_advisory_xact_lock(4207714, hashtext(of_account));
  select id into of_id from resources
    where account = of_account and kind = 'workload' and name = of_name and desired <> 'deleted';
  if of_id is not null then
    perform change_workload(of_id, wanted, kept_versions);
    perform want_resource(of_id, 'deployed');
    return of_id;
  end if;
  given := defaults || wanted;
  of_id := add_resource('workload', of_account, of_name, in_region, most);
  insert into workloads (id, account, scale_min, scale_max, target_requests, sleep_after_ms, host)
    select of_id, of_account, r.scale_min, r.scale_max, r.target_requests, r.sleep_after_ms, workload_host(of_name, of_account, below)
    from jsonb_populate_record(null::workloads, given) r;
  perform add_workload_version(of_id, given, kept_versions);
  perform assert_one_instance(of_id);
  perform route_workload(of_id);
  return of_id;
end $$;

-- The host of a workload, below the host of all routes: one label, because a wildcard certificate covers one.
create or replace function workload_host(of_name text, of_account text, below text) returns text
language sql immutable as $$
  select of_name || '-' || replace(of_account, '_', '-') || '.' || below
$$;

-- Gives a workload its host below another one; raises as route_workload(). A call has the locks of one workload alone, in the
-- order of change_workload(): the workload, its resource, its hosts.
create or replace function rehost_workload(of_id text, below text) returns void language sql as $$
  update workloads w set host = workload_host(n.name, n.account, below) from resources n
    where w.id = of_id and n.id = w.id and n.desired <> 'deleted';
  select route_workload(of_id);
$$;

-- Makes a version that is ready the live one; false where another is wanted by now.
create or replace function make_workload_live(of_id text, of_version int, at_url text) returns boolean
language plpgsql as $$
declare
  before constant int := make_version_live(of_id, of_version);
begin
  if before is null then return false; end if;
  delete from workload_volumes where workload = of_id and dropped_by <= of_version;
  if before = 0 then
    perform emit_event(account, 'workload.deployed', jsonb_build_object('workload_id', id, 'workload_name', name, 'url', at_url))
      from resources where id = of_id;
  end if;
  return true;
end $$;

-- Makes an earlier version wanted again whose volumes are there; see roll_back_version().
create or replace function roll_back_workload(of_id text, to_version int) returns int language plpgsql as $$
declare
  found_version int;
begin
  -- The versions and volumes that are read next are those that the last change left.
  perform from resources where id = of_id for update;
  found_version := roll_back_version(of_id, to_version,
    array(select v.version from workload_versions v where v.workload = of_id and not has_volumes(v)));
  if found_version is null then return null; end if;
  update workload_volumes o set dropped_by = null where workload = of_id and exists (
    select from workload_versions v, jsonb_to_recordset(v.volumes) as m (name text)
    where v.workload = of_id and v.version = found_version and m.name = o.name);
  perform assert_one_instance(of_id);
  return found_version;
end $$;

-- Records that the live version of a workload ends again and again, once until it is steady; tells its account.
create or replace function mark_crash_loop(of_id text, of_version int, exit_code int, why text, log_lines int) returns boolean
language plpgsql as $$
declare
  named resources;
begin
  select * into named from resources where id = of_id and actual = 'deployed' and live_version = of_version for update;
  if not found then return false; end if;
  perform move_resource(of_id, 'crash_loop', why);
  perform emit_event(named.account, 'workload.crashed', jsonb_build_object('workload_id', of_id,
    'workload_name', named.name, 'exit_code', exit_code,
    'last_log_url', '/v1/workloads/' || of_id || '/logs?lines=' || log_lines));
  return true;
end $$;

-- Ends a crash loop.
create or replace function end_crash_loop(of_id text) returns void language sql as $$
  select move_resource(id, 'deployed') from resources where id = of_id and actual = 'crash_loop'
$$;

-- Deletes a workload: its hosts are free again.
create or replace function delete_workload(of_id text) returns void language sql as $$
  -- First the resource, which each change of its routes locks first too.
  select want_resource(of_id, 'deleted');
  select set_routes(of_id, '[]');
  select standing_end('workload', id, name, account), standing_end('image', id, name, account) from resources where id = of_id;
$$;

-- Removes what is left of a deleted workload; a host has its name.
create or replace function remove_workload(of_id text) returns void language sql as $$
  update workloads set host = '' where id = of_id;
  delete from resource_logs where resource = of_id;
  delete from resource_intervals where resource = of_id;
  delete from resource_versions where resource = of_id;
  delete from workload_volumes where workload = of_id;
$$;

-- Tells the account of a workload that has been suspended, in the transaction that records it.
create or replace function tell_workload_suspended() returns trigger language plpgsql as $$
begin
  perform emit_event(new.account, 'workload.suspended', jsonb_build_object('workload_id', new.id, 'workload_name', new.name,
    'reason', case when new.desired = 'suspended' then 'manual' else
      case new.held when 'budget' then 'energy_budget' when 'balance' then 'balance' else 'account' end end));
  return null;
end $$;
create or replace trigger workload_suspended after update of actual on resources for each row
  when (new.kind = 'workload' and new.actual = 'suspended' and old.actual <> 'suspended')
  execute function tell_workload_suspended();
