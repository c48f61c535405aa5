-- Functions: their versions, which of them is wanted, and their routes.

-- True where a resource that is not one of `besides` answers at the route, or the wanted version of such a function will.
create or replace function is_route_taken(of_account text, wish text, besides text[]) returns boolean language sql stable as $$
  select exists (select from ingress_routes
      where account = of_account and host is null and path = wish and resource <> all (besides))
    or exists (select from resources n join resource_versions o on o.resource = n.id and o.version = n.version
      join function_versions v on v.function = n.id and v.version = n.version
      where n.account = of_account and n.id <> all (besides) and n.desired <> 'deleted' and o.failure is null and v.route = wish)
$$;

-- Refuses the route of the wanted version where it is taken. The hint is the route. The account is locked.
create or replace function assert_route_free(of_id text) returns void language plpgsql as $$
declare
  of_account text;
  wish text;
begin
  select n.account, v.route into of_account, wish from resources n
    join function_versions v on v.function = n.id and v.version = n.version where n.id = of_id;
  if is_route_taken(of_account, wish, array[of_id]) then
    raise unique_violation using hint = wish;
  end if;
end $$;

-- Routes requests to the live version. Without a live version they wait for the wanted version. Where that has failed the
-- path is free, and the hosts stay the account's.
create or replace function route_function(of_id text) returns void language sql as $$
  -- The next statement reads what the last change of the hosts left.
  select from resources where id = of_id for update;
  select set_routes(of_id, coalesce((
    select jsonb_agg(jsonb_build_object('host', r.host, 'path', r.path, 'timeout_s', v.timeout_s,
      'concurrency', coalesce(v.concurrency, v.default_concurrency)))
    from resources n join resource_versions o on o.resource = n.id and o.version = coalesce(n.live_version, n.version)
      join function_versions v on v.function = n.id and v.version = o.version
      cross join lateral (
        select null as host, v.route as path where n.live_version is not null or o.failure is null
        union all select h, '/' from unnest(n.hosts) as h) r
    where n.id = of_id and n.desired <> 'deleted'), '[]'))
$$;

-- Makes a version that started the live one, with its route and settings; by default it takes as many requests at once as
-- the form of its handler. Returns the one before; null where another is
-- wanted by now.
create or replace function make_function_live(of_id text, of_version int, by_default int default null) returns int language plpgsql as $$
declare
  before constant int := make_version_live(of_id, of_version);
begin
  if before is null then return null; end if;
  update function_versions set default_concurrency = coalesce(by_default, default_concurrency)
    where function = of_id and version = of_version;
  perform route_function(of_id);
  perform follow_buckets(of_id, f.account, v.buckets) from functions f join function_versions v on v.function = f.id
    where f.id = of_id and v.version = of_version;
  -- A new schedule begins now.
  update functions set scheduled_to = date_trunc('minute', ledger_now()) where id = of_id
    and (select schedule from function_versions where function = of_id and version = of_version) is distinct from
      (select schedule from function_versions where function = of_id and version = before);
  return before;
end $$;

-- Records why a version cannot be started: it is not tried again, and its route is not kept for it.
create or replace function fail_function(of_id text, of_version int, why text) returns void language sql as $$
  -- First the resource, as each other change of its versions does.
  select from resources where id = of_id for update;
  select fail_version(of_id, of_version, why);
  select route_function(of_id);
$$;

-- Deploys a version: what `wanted` leaves out is as in the version before, or by default. Returns the id.
create or replace function deploy_function(of_account text, of_name text, in_region text, most int, defaults jsonb,
  wanted jsonb, kept_versions int) returns text language plpgsql as $$
declare
  of_id text;
  given jsonb;
  last jsonb := '{}';
begin
  perform pg_advisory_xact_lock(4207714, hashtext(of_account));
  select id into of_id from resources
    where account = of_account and kind = 'function' and name = of_name and desired <> 'deleted';
  if of_id is null then
    of_id := add_resource('function', of_account, of_name, in_region, most);
    insert into functions (id, account) values (of_id, of_account);
  else
    select to_jsonb(v) into last from resources n join function_versions v on v.function = n.id and v.version = n.version
      where n.id = of_id;
    perform want_resource(of_id, 'deployed');
  end if;
  given := defaults || last || wanted;
  insert into function_versions (function, version, route, runtime, memory_bytes, timeout_s, env_names, sealed_env,
    file, source, buckets, schedule, concurrency, deployed_by)
  values (of_id, add_version(of_id, kept_versions), given ->> 'route', given ->> 'runtime', (given ->> 'memory_bytes')::bigint,
    (given ->> 'timeout_s')::int, array(select jsonb_array_elements_text(given -> 'env_names')),
    given ->> 'sealed_env', given ->> 'file', given ->> 'source',
    array(select jsonb_array_elements_text(given -> 'buckets')), given ->> 'schedule', (given ->> 'concurrency')::int,
    given ->> 'deployed_by');
  perform assert_route_free(of_id);
  perform route_function(of_id);
  return of_id;
end $$;

-- Makes an earlier version wanted again; see roll_back_version().
create or replace function roll_back_function(of_id text, to_version int) returns int language plpgsql as $$
declare
  found_version int;
begin
  perform pg_advisory_xact_lock(4207714, hashtext(account)) from functions where id = of_id;
  found_version := roll_back_version(of_id, to_version);
  if found_version is null then return null; end if;
  perform assert_route_free(of_id);
  perform route_function(of_id);
  return found_version;
end $$;

-- Deletes a function: its route and its hosts are free again.
create or replace function delete_function(of_id text) returns void language sql as $$
  -- First the resource, which each change of its routes locks first too.
  select want_resource(of_id, 'deleted');
  select set_routes(of_id, '[]');
  select follow_buckets(of_id, account, '{}') from functions where id = of_id;
$$;

-- Removes what is left of a deleted function.
create or replace function remove_function(of_id text) returns void language sql as $$
  delete from function_runs where function = of_id;
  delete from resource_logs where resource = of_id;
  delete from resource_intervals where resource = of_id;
  delete from resource_versions where resource = of_id;
$$;
