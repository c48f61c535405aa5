-- A deletion waits for its turn, so those that wait for something hold up no other one.
alter table account_deletions add column looked_at timestamptz not null default '-infinity';
