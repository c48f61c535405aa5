-- The public text of an incident beside its summary.
alter table incidents
  -- The losses, and the use that was not billed, in the operator's words.
  add column lost text,
  add column unbilled text;

create table incident_updates (
  id bigint primary key generated always as identity,
  incident text collate "C" not null references incidents (id),
  at timestamptz not null,
  words text not null
);
create index incident_updates_by_incident on incident_updates (incident, id);
