-- What each account used by the hour, of the charges that the minute's audit has summed: GET /v1/usage reads
-- charges one by one only at the edges of its range. A month of 1 M charges: 2.3 s one by one, 0.07 so.
create table usage_hours (
  account text collate "C" not null references accounts (id),
  hour timestamptz not null,
  operation text not null,
  -- '' where there is none.
  model text not null,
  token text collate "C" not null,
  requests bigint not null,
  energy_nj numeric(38, 0) not null,
  carbon_pg numeric(38, 0) not null,
  charge_pusd numeric(38, 0) not null,
  primary key (account, hour, operation, model, token)
);
insert into usage_hours
  select account, date_trunc('hour', to_at, 'UTC'), operation, coalesce(model, ''), coalesce(token, ''),
    count(*), sum(energy_nj), sum(carbon_pg), sum(charge_pusd)
  from charges where leaf_index < (select audited from books) group by 1, 2, 3, 4, 5;
