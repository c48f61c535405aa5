-- When the present owner took the key, which may be later than its work began.
alter table idempotency_keys add column taken_at timestamptz not null default now();
