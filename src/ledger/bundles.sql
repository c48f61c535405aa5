-- The books of bundled charges (src/ledger/bundles).

-- When a token was used last, by the charge that was posted last.
create or replace function token_last_used(token_id text) returns timestamptz language sql stable as $$
  select coalesce(
    (select to_at from charges where token = token_id order by account_seq desc limit 1),
    (select last_at from bundled_tokens where token = token_id))
$$;

-- The sums of all charges of a resource.
create or replace function charged_of_resource(of_account text, of_resource text)
returns table (energy_nj numeric, charge_pusd numeric) language sql stable as $$
  select coalesce(sum(c.energy_nj), 0), coalesce(sum(c.charge_pusd), 0) from (
    select h.energy_nj, h.charge_pusd from bundled_resource_hours h
    where h.account = of_account and h.resource = of_resource
    union all
    select r.energy_nj, r.charge_pusd from charges r where r.account = of_account and r.resource = of_resource) c
$$;

-- The charges of an account that may be bundled, from its first row on, up to a limit. They ended before a time, and
-- the audit has summed them. A tick is held to the hash of each record that it repeats, so the last 4000 records of an
-- open session stay as they are. Those of an ended session stay for a day: a process that starts learns from them how
-- far its cells are charged.
create or replace function charges_to_bundle(of_account text, before timestamptz, at_most integer)
returns setof charges language sql stable as $$
  with first as materialized (
    select c.account_seq, c.to_at < before and c.leaf_index < (select audited from books)
      and (s.closed_at < ledger_now() - interval '1 day' or s.closed_at is null and c.seq <= s.last_seq - 4000)
      as is_old
    from charges c left join sessions s on s.id = c.session
    where c.account = of_account
      -- Without a beginning the index is read through the entries of all rows that went since the last vacuum.
      and c.account_seq > coalesce((select charges from bundled_accounts where account = of_account), 0)
    order by c.account_seq limit at_most
  )
  select c.* from first f join charges c on c.account = of_account and c.account_seq = f.account_seq
  where f.account_seq < coalesce((select min(account_seq) from first where is_old is not true), 9223372036854775807)
  order by c.account_seq
$$;

-- Puts a bundle in the place of the rows that it was made of. The caller has proven that it holds each of them.
create or replace function move_into_bundle(of_account text, from_seq bigint, to_seq bigint)
returns bigint language plpgsql as $$
declare
  gone bigint;
begin
  insert into bundled_tokens (token, account_seq, last_at)
    select distinct on (token) token, account_seq, to_at from charges
    where account = of_account and account_seq between from_seq and to_seq and token is not null
    order by token, account_seq desc
    on conflict (token) do update set account_seq = excluded.account_seq, last_at = excluded.last_at;
  insert into bundled_resource_hours as h (account, resource, hour, operation, energy_nj, carbon_pg, charge_pusd)
    select account, resource, date_trunc('hour', to_at, 'UTC'), operation, sum(energy_nj), sum(carbon_pg),
      sum(charge_pusd)
    from charges where account = of_account and account_seq between from_seq and to_seq and resource is not null
    group by 1, 2, 3, 4
    on conflict (account, resource, hour, operation) do update set energy_nj = h.energy_nj + excluded.energy_nj,
      carbon_pg = h.carbon_pg + excluded.carbon_pg, charge_pusd = h.charge_pusd + excluded.charge_pusd;
  update bundled_accounts a set charges = a.charges + to_seq - from_seq + 1, energy_nj = a.energy_nj + p.energy_nj,
    charge_pusd = a.charge_pusd + p.charge_pusd, bundles = a.bundles + 1, bytes = a.bytes + length(p.body)
    from charge_bundles p where a.account = of_account and p.account = of_account and p.first_seq = from_seq;
  delete from charges where account = of_account and account_seq between from_seq and to_seq;
  get diagnostics gone = row_count;
  return gone;
end $$;

-- Accounts whose bundles do not add up to their sums, or do not follow each other.
create or replace function bundle_faults() returns table (account text, detail text) language sql stable as $$
  with found as (
    select a.account, a.charges, a.bundles, a.energy_nj, a.charge_pusd, coalesce(sum(p.last_seq - p.first_seq + 1), 0) as found_charges,
      coalesce(max(p.last_seq), 0) as last_seq, count(p.account) as found_bundles,
      coalesce(sum(p.energy_nj), 0) as found_nj, coalesce(sum(p.charge_pusd), 0) as found_pusd
    from bundled_accounts a left join charge_bundles p on p.account = a.account group by a.account
  )
  select account, format('%s charges in %s bundles, %s in %s found; %s nJ, %s found; %s pUSD, %s found; the last is %s',
    charges, bundles, found_charges, found_bundles, energy_nj, found_nj, charge_pusd, found_pusd, last_seq)
  from found where (charges, bundles, energy_nj, charge_pusd, charges)
    is distinct from (found_charges, found_bundles, found_nj, found_pusd, last_seq)
$$;
