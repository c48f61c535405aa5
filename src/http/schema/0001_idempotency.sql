-- The answer to each request with an Idempotency-Key, so that a repeated request costs nothing twice. A row
-- without a status is work under way. A key is forgotten a day after its beginning.

create table idempotency_keys (
  token text collate "C" not null references tokens (id),
  path text collate "C" not null,
  key text collate "C" not null,
  -- SHA-256 of the body: the same key with another body is a mistake of the caller.
  fingerprint bytea not null,
  -- The session that does the work. When that session ended without an answer, the next one may begin again.
  session text collate "C" not null,
  request text collate "C" not null,
  begun_at timestamptz not null default now(),
  receipt text collate "C",
  status integer,
  headers jsonb,
  content_type text,
  body bytea,
  primary key (token, path, key)
);
create index idempotency_keys_by_age on idempotency_keys (begun_at);
