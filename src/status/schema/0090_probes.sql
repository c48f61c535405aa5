-- Results of the installation's own probe, one row a component and probe, for 90 days. Of a component that is not probed
-- the newest row alone is kept.
create table probe_results (
  component text collate "C" not null,
  at timestamptz not null,
  state text not null check (state in ('ok', 'failed', 'not_probed')),
  reason text,
  duration_ms integer,
  energy_nj bigint,
  carbon_pg bigint,
  method text,
  band_pct integer,
  routed_to text,
  receipt text,
  primary key (component, at)
);
create index probe_results_by_time on probe_results (at);

-- The token that probes ask with: one of the operator's account. Its text is in the memory of the process of tasks alone.
create table probe_token (
  is_one boolean primary key default true check (is_one),
  token text collate "C" not null references tokens (id)
);
