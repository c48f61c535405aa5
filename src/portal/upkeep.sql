-- Removes what has ended: challenges, logins, sessions, and counts of days before. True while there may be more.
create or replace function portal_upkeep(batch integer) returns boolean language plpgsql as $$
declare
  most integer := 0;
  gone integer;
begin
  delete from passkey_challenges where challenge in (
    select challenge from passkey_challenges where expires_at < now() order by expires_at limit batch);
  get diagnostics most = row_count;
  delete from command_logins where id in (
    select id from command_logins where expires_at < now() order by expires_at limit batch);
  get diagnostics gone = row_count;
  most := greatest(most, gone);
  delete from browser_sessions where token in (
    select token from browser_sessions where ends_at < now() order by ends_at limit batch);
  get diagnostics gone = row_count;
  most := greatest(most, gone);
  delete from sign_ups where (network, day) in (
    select network, day from sign_ups where day < (now() at time zone 'UTC')::date limit batch);
  get diagnostics gone = row_count;
  return greatest(most, gone) >= batch;
end $$;

-- Removes what an account that is being deleted has here.
create or replace function leave_portal(of_account text) returns void language sql as $$
  delete from passkeys where account = of_account;
  delete from recovery_codes where account = of_account;
  delete from command_logins where account = of_account;
  delete from browser_sessions where token in (select id from tokens where account = of_account);
$$;
