-- The ingress reads its routes from a table of all kinds.
insert into ingress_routes (resource, account, path, timeout_s)
  select f.id, f.account, v.route, v.timeout_s from functions f
  join function_versions v on v.function = f.id and v.version = coalesce(f.live_version, f.version)
  where f.route is not null;
