-- Accounts that are being deleted.
create table account_deletions (
  account text collate "C" primary key references accounts (id),
  asked_at timestamptz not null,
  -- Until then its owner can restore it.
  due_at timestamptz not null,
  -- From then on its tokens are revoked, and nothing brings it back.
  begun_at timestamptz,
  -- The parts of the service that have nothing of the account any more, and why the next one still has something.
  parts text[] not null default '{}',
  waits_for text,
  failures integer not null default 0,
  done_at timestamptz
);
create index account_deletions_open on account_deletions (due_at) where done_at is null;
