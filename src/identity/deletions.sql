-- The deletion of an account, from its request to the erasure of its texts.

-- Asks for the deletion of an account that is locked. Returns the number of the change, which sessions reach by hearing of it: from then on they refuse
-- changes of the account. Null where the deletion was asked for before.
create or replace function ask_deletion(of_account text, wait interval) returns bigint language plpgsql as $$
begin
  insert into account_deletions (account, asked_at, due_at)
    values (of_account, ledger_now(), ledger_now() + wait) on conflict do nothing;
  if not found then return null; end if;
  perform emit_event(of_account, 'account.deletion_requested', jsonb_build_object('deletes_at',
    to_char((ledger_now() + wait) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
  return change_credentials(null, of_account);
end $$;

-- Takes the deletion of an account that is locked back; returns the number of the change, or null where there is none, or where it has begun.
create or replace function restore_account(of_account text) returns bigint language plpgsql as $$
begin
  delete from account_deletions where account = of_account and begun_at is null;
  if not found then return null; end if;
  perform emit_event(of_account, 'account.restored', '{}');
  return change_credentials(null, of_account);
end $$;

-- Begins the deletion if it is due: the tokens and invitations of the account end.
create or replace function begin_deletion(of_account text) returns void language plpgsql as $$
begin
  perform lock_account(of_account);
  update account_deletions set begun_at = ledger_now()
    where account = of_account and begun_at is null and due_at <= ledger_now();
  if not found then return; end if;
  update tokens set revoked_at = ledger_now() where account = of_account and revoked_at is null;
  update members set invitation_hash = null, invitation_expires_at = null where account = of_account;
  perform change_credentials(null, of_account);
end $$;
drop function if exists begin_deletions(int);

-- Ends every token that there may be, erases what people wrote (names of tokens and members, values in the audit log), and
-- deletes stored answers and events. Ids, times and amounts stay for the books.
create or replace function erase_account(of_account text) returns void language sql as $$
  delete from idempotency_keys where token in (select id from tokens where account = of_account);
  update tokens set name = '', hint = '', revoked_at = coalesce(revoked_at, ledger_now()) where account = of_account;
  update accounts set name = null where id = of_account;
  update members set name = '', contact = null, invitation_hash = null where account = of_account;
  -- A target that is no id, such as the host of a registry, is a text of people too.
  update audit_entries set details = '{}', token_name = null, member_name = null,
    target = case when target ~ '^[a-z]+_' then target else '' end where account = of_account;
  delete from events where account = of_account;
  update account_deletions set done_at = ledger_now(), waits_for = null where account = of_account;
$$;
