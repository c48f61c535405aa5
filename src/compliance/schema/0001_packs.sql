-- Evidence packs: what is asked for, how far the work is, and where the file is.
create table evidence_packs (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  from_at timestamptz not null,
  to_at timestamptz not null check (to_at > from_at),
  status text not null default 'waiting' check (status in ('waiting', 'running', 'ready', 'failed')),
  -- Why it waits, or failed.
  reason text,
  attempts integer not null default 0,
  -- A pack that cannot be made now lets others go first until then.
  due_at timestamptz not null,
  -- Receipts that were read, and all reads.
  done bigint,
  total bigint,
  -- The most that the work is billed, and what that was at the price of the day.
  ceiling_nj numeric(38, 0) not null,
  ceiling_pusd numeric(38, 0) not null,
  blob uuid,
  manifest_sha256 text,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((status = 'ready') = (blob is not null))
);
create index evidence_packs_of on evidence_packs (account, id);
create index evidence_packs_open on evidence_packs (due_at) where status in ('waiting', 'running');
create index evidence_packs_ended on evidence_packs (ended_at) where status in ('ready', 'failed');
