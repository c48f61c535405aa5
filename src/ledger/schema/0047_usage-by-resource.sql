-- Usage by resource: the sums of an hour keep the id of the resource, '' of charges without. A resource's part of earlier
-- sums is taken out of the sums without.
alter table usage_hours add column resource text collate "C" not null default '';
alter table usage_hours drop constraint usage_hours_pkey;
alter table usage_hours add primary key (account, hour, operation, model, token, resource);

do $$ begin
  -- measured_nj() is not there yet where the ledger is new.
  if not exists (select from usage_hours) then return; end if;
  create temporary table parts on commit drop as
    select account, hour, operation, model, token, resource, sum(requests) as requests, sum(energy_nj) as energy_nj,
      sum(carbon_pg) as carbon_pg, sum(charge_pusd) as charge_pusd, sum(measured_nj) as measured_nj
    from (
      select c.account, date_trunc('hour', to_at, 'UTC') as hour, operation, coalesce(model, '') as model,
        coalesce(token, '') as token, resource, 1 as requests, c.energy_nj, carbon_pg, c.charge_pusd,
        measured_nj(bytes, c.energy_nj) as measured_nj
      from charges c join audited_accounts a on a.account = c.account and c.account_seq <= a.charges
      where resource is not null
      union all
      select account, (s ->> 0)::timestamptz, s ->> 1, s ->> 2, s ->> 3, s ->> 4, (s ->> 5)::bigint,
        (s ->> 6)::numeric, (s ->> 7)::numeric, (s ->> 8)::numeric, (s ->> 9)::numeric
      from charge_bundles, jsonb_array_elements(sums) s where s ->> 4 <> ''
    ) found group by 1, 2, 3, 4, 5, 6;
  insert into usage_hours (account, hour, operation, model, token, resource, requests, energy_nj, carbon_pg,
    charge_pusd, measured_nj) select * from parts;
  update usage_hours u set requests = u.requests - p.requests, energy_nj = u.energy_nj - p.energy_nj,
    carbon_pg = u.carbon_pg - p.carbon_pg, charge_pusd = u.charge_pusd - p.charge_pusd,
    measured_nj = u.measured_nj - p.measured_nj
  from (
    select account, hour, operation, model, token, sum(requests) as requests, sum(energy_nj) as energy_nj,
      sum(carbon_pg) as carbon_pg, sum(charge_pusd) as charge_pusd, sum(measured_nj) as measured_nj
    from parts group by 1, 2, 3, 4, 5
  ) p
  where u.resource = '' and (u.account, u.hour, u.operation, u.model, u.token)
    = (p.account, p.hour, p.operation, p.model, p.token);
  delete from usage_hours where resource = '' and requests = 0;
end $$;
