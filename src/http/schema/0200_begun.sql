-- The result of the transaction that a request began its work with, as JSON, written in that transaction. A repetition
-- goes on with the result when the request ended without an answer that was kept.
alter table idempotency_keys add column begun jsonb;
-- Null: the request has ended.
alter table idempotency_keys alter column session drop not null;
