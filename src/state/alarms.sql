-- Alarms to the operator. The kinds are listed in contract/alarms.ts.

-- Raises an alarm; false when an alarm of that kind and key exists, also beside a concurrent call.
create or replace function raise_alarm(alarm_kind text, alarm_detail jsonb, once_key text default null,
  lasts boolean default false) returns boolean language plpgsql as $$
begin
  insert into alarms (kind, detail, key, is_lasting) values (alarm_kind, alarm_detail, once_key, lasts)
    on conflict do nothing;
  return found;
end $$;
