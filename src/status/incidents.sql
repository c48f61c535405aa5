-- Begins an incident and tells each account that has a resource or a bucket in the region. Null where the region has an
-- open incident.
create or replace function begin_incident(incident_id text, of_region text, words text, began timestamptz)
returns int language plpgsql as $$
declare
  notified int := 0;
  affected text;
begin
  insert into incidents (id, region, summary, started_at, accounts)
    values (incident_id, of_region, words, began, 0) on conflict do nothing;
  if not found then return null; end if;
  for affected in
    select account from resources where region = of_region and desired <> 'deleted'
    union select account from buckets where region = of_region
    order by account
  loop
    perform emit_event(affected, 'fleet.region_outage', jsonb_build_object('incident_id', incident_id,
      'region', of_region, 'summary', words, 'started_at', to_char(began at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    notified := notified + 1;
  end loop;
  update incidents set accounts = notified where id = incident_id;
  return notified;
end $$;
