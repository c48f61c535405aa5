-- Replaces the routes of a resource by a list of {host, path, timeout_s, concurrency, scale}; an empty list removes them. Raises
-- unique_violation for the route of another resource, and EG023 for a host of another account: a host belongs to the
-- account that has routes there.
create or replace function set_routes(of_id text, wanted jsonb) returns void language plpgsql as $$
declare
  of_account constant text := (select account from resources where id = of_id);
begin
  delete from ingress_routes where resource = of_id;
  -- In the order of the names, so that two lists cannot wait for each other.
  perform pg_advisory_xact_lock(4207717, hashtext(host))
    from (select distinct r ->> 'host' as host from jsonb_array_elements(wanted) r order by 1) h where host is not null;
  if exists (select from jsonb_array_elements(wanted) r join ingress_routes i on i.host = r ->> 'host'
      where i.account <> of_account) then
    raise exception 'a host of another account' using errcode = 'EG023';
  end if;
  insert into ingress_routes (resource, account, host, path, timeout_s, concurrency, scale)
    select of_id, of_account, host, path, timeout_s, concurrency, scale
    from jsonb_to_recordset(wanted) as r (host text, path text, timeout_s int, concurrency int, scale jsonb);
  perform pg_notify('ergon_routes', '');
end $$;
