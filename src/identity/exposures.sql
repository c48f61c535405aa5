-- Records that a token was seen in an address and emits an event to its owner, at most once an hour.
create or replace function note_exposed_token(token_id text) returns void language plpgsql as $$
declare
  seen tokens%rowtype;
begin
  -- The account before its token, in the order of the functions that make and end tokens.
  perform lock_account((select account from tokens where id = token_id));
  update tokens set exposed_at = ledger_now()
  where id = token_id and (exposed_at is null or exposed_at <= ledger_now() - interval '1 hour')
  returning * into seen;
  if not found then return; end if;
  perform emit_event(seen.account, 'token.exposed', jsonb_build_object('token_id', seen.id,
    'name', seen.name, 'hint', seen.hint, 'scope', seen.scope));
end $$;
