-- What the request with a key began, as JSON, written in the transaction that begins it: a repetition goes on with that
-- when the request ended without an answer that was kept.
alter table idempotency_keys add column begun jsonb;
-- Null: nobody works on it any more.
alter table idempotency_keys alter column session drop not null;
