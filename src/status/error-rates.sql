-- Adds what a gateway has counted to the hour, and names accounts that have no public name yet. An account whose removal
-- has begun gets nothing any more. Rows are taken in one order, so that gateways do not wait for each other in a circle.
create or replace function add_account_counts(of_accounts text[], more_requests bigint[], more_failures bigint[])
returns void language sql as $$
  with counted as (
    select c.account, c.requests, c.failures
    from unnest(of_accounts, more_requests, more_failures) as c (account, requests, failures)
    join accounts a on a.id = c.account
    where not exists (
      select from account_deletions d where d.account = c.account and d.begun_at is not null)
    order by c.account
  ), named as (
    insert into public_names (account) select account from counted on conflict do nothing
  )
  insert into account_hours as h (account, hour, requests, failures)
    select account, date_trunc('hour', ledger_now(), 'UTC'), requests, failures from counted
    on conflict (account, hour) do update
      set requests = h.requests + excluded.requests, failures = h.failures + excluded.failures
$$;

-- Another name at random. Its counts begin anew: the same figures under another name would tell whose it is.
create or replace function renew_public_name(of_account text) returns text language sql as $$
  delete from account_hours where account = of_account;
  insert into public_names (account) values (of_account)
    on conflict (account) do update set name = excluded.name
    returning name
$$;

create or replace function leave_error_rates(of_account text) returns void language sql as $$
  delete from account_hours where account = of_account;
  delete from public_names where account = of_account
$$;

-- Removes a batch of hours that nobody reads; false once none is left.
create or replace function error_rates_upkeep(batch int) returns boolean language sql as $$
  with gone as (
    delete from account_hours where ctid = any (array(
      select ctid from account_hours where hour < ledger_now() - interval '48 hours' limit batch))
    returning 1
  )
  select count(*) = batch from gone
$$;
