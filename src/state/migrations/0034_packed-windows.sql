-- Windows older than a day, summed five minutes to a row (pack_windows in ledger/windows.sql). A row of `windows`
-- takes 1.2 to 1.5 kB a second, 40 GB a year.
create table packed_windows (
  session text collate "C" not null,
  first_seq bigint not null,
  meter text not null,
  first_k bigint not null,
  last_k bigint not null,
  -- How many windows were summed, and the hash of their hashes in the order of their numbers.
  windows integer not null check (windows > 0),
  hash bytea not null,
  method text not null,
  band_pct integer not null,
  pue_milli integer not null,
  fallback text,
  elapsed_ns numeric(38, 0) not null,
  busy_ns numeric(38, 0) not null,
  reading_nj numeric(38, 0) not null,
  idle_nj numeric(38, 0) not null,
  charged_ns numeric(38, 0) not null,
  accrued_nj numeric(38, 0) not null,
  -- The least and the greatest tariff that was in force.
  tariff_min_nj_per_cpu_s numeric(38, 0) not null,
  tariff_max_nj_per_cpu_s numeric(38, 0) not null,
  -- Sums by name and payer, integers as text: they add up to the reading.
  shares jsonb not null,
  primary key (session, first_seq)
);
create index packed_windows_by_meter on packed_windows (meter, first_k);
create trigger packed_windows_append_only before update or truncate on packed_windows
  for each statement execute function refuse_change();
create trigger packed_windows_forgotten_by_upkeep before delete on packed_windows
  for each statement execute function refuse_unless_forgetting();
