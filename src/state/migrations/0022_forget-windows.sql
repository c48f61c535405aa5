-- Windows of the meter are a row a second, 0.9 to 1.3 kB each: old ones may go (ledger/windows.sql), and by that
-- way only. What they were summed into stays in the ledger.
drop trigger windows_append_only on windows;
create trigger windows_append_only before update or truncate on windows
  for each statement execute function refuse_change();
create function refuse_unless_forgetting() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('ergon.forgets', true), '') <> 'windows' then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger windows_forgotten_by_upkeep before delete on windows
  for each statement execute function refuse_unless_forgetting();
