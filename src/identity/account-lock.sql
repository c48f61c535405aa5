-- Until the transaction ends nobody else changes the members, tokens, cards or payments of the account, or begins its deletion. A
-- transaction locks one account, before anything else. Not the account's row: a tick has locked log_head when it comes to
-- that row, and a budget in this transaction would wait for log_head.
create or replace function lock_account(of_account text) returns void language sql as $$
  select pg_advisory_xact_lock(4207716, hashtext(of_account))
$$;
