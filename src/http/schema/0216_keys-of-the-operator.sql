-- A key is a token's, or the operator's, who has no token.
alter table idempotency_keys drop constraint idempotency_keys_token_fkey;
