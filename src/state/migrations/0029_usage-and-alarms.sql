-- The last request of a token is the one that was posted last, whatever the clock said: after one that was set
-- back the newest time was an old charge's. By the numbers of its account, not by leaves: for those there is an
-- index of all accounts, and of a token that has rested all newer charges were read by it. Ascending, as 0006 says.
drop index charges_by_token;
create index charges_by_token on charges (token, account_seq);

-- How much of the energy a sensor read; the rest was modelled, or declared by an upstream.
alter table usage_hours add measured_nj numeric(38, 0) not null default 0;
update usage_hours h set measured_nj = read.nj from (
  select account, date_trunc('hour', to_at, 'UTC') as hour, operation, coalesce(model, '') as model,
    coalesce(token, '') as token, sum((part ->> 'energy_nj')::numeric) as nj
  from charges, json_array_elements(convert_from(bytes, 'UTF8')::json -> 'parts') part
  where leaf_index < (select audited from books)
    -- Most of most nodes have none: to look for the words takes less than reading the JSON.
    and convert_from(bytes, 'UTF8') ~ '"method":"(rapl|plug|redfish|nvml)"'
    and part ->> 'method' in ('rapl', 'plug', 'redfish', 'nvml')
  group by 1, 2, 3, 4, 5) read
where (h.account, h.hour, h.operation, h.model, h.token)
  = (read.account, read.hour, read.operation, read.model, read.token);

-- An alarm counts until the operator has acknowledged it.
alter table alarms add acknowledged_at timestamptz;
create index alarms_open on alarms (id) where acknowledged_at is null;
