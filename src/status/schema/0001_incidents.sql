-- Incidents of regions, as the operator declares them.
create table incidents (
  id text collate "C" primary key,
  region text not null,
  summary text not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- Accounts that have an event of the incident.
  accounts integer not null
);
create unique index incidents_one_open on incidents (region) where ended_at is null;
