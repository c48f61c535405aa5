-- The suspension of an account by the operator, and its end. Both return the number of the change, which sessions reach by
-- hearing of it; null where nothing changes. The account is locked.

create or replace function suspend_account(of_account text, why text) returns bigint language plpgsql as $$
begin
  insert into account_suspensions (account, reason, at) values (of_account, why, ledger_now()) on conflict do nothing;
  if not found then return null; end if;
  perform emit_event(of_account, 'account.suspended', jsonb_build_object('reason', why));
  return change_credentials(null, of_account);
end $$;

create or replace function resume_account(of_account text) returns bigint language plpgsql as $$
begin
  delete from account_suspensions where account = of_account;
  if not found then return null; end if;
  perform emit_event(of_account, 'account.resumed', '{}');
  return change_credentials(null, of_account);
end $$;
