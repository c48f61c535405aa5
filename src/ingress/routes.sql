-- Locks the hosts of resources, and more hosts, until the end of the transaction. A transaction that changes the routes of
-- several resources calls it first, for all of them: in one order, so that two of them cannot wait for each other.
create or replace function lock_hosts(of_ids text[], more text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4207717, hash) from (select distinct hashtext(host) as hash
    from (select host from ingress_routes where resource = any (of_ids) union all select unnest(more)) hosts
    where host is not null order by 1) h;
end $$;

-- Replaces the routes of a resource by a list of {host, path, timeout_s, concurrency, scale}; an empty list removes them. Raises
-- unique_violation for the route of another resource, and EG023 for a host of another account: a host belongs to the
-- account that has routes there.
create or replace function set_routes(of_id text, wanted jsonb) returns void language plpgsql as $$
declare
  of_account constant text := (select account from resources where id = of_id);
begin
  -- Hosts that go are locked too: another list that takes one of them waits here, and not within its insertion.
  perform lock_hosts(array[of_id], array(select r ->> 'host' from jsonb_array_elements(wanted) r));
  delete from ingress_routes where resource = of_id;
  if exists (select from jsonb_array_elements(wanted) r join ingress_routes i on i.host = r ->> 'host'
      where i.account <> of_account) then
    raise exception 'a host of another account' using errcode = 'EG023';
  end if;
  insert into ingress_routes (resource, account, host, path, timeout_s, concurrency, scale)
    select of_id, of_account, host, path, timeout_s, concurrency, scale
    from jsonb_to_recordset(wanted) as r (host text, path text, timeout_s int, concurrency int, scale jsonb);
  perform pg_notify('ergon_routes', '');
end $$;
