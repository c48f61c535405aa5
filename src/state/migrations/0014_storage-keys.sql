-- Named keys for SSE-KMS that were rotated: their current version, and the one that all envelopes had at
-- least when the last round over them ended. A key that is not here has version 1.
create table storage_keys (
  name text collate "C" primary key,
  version integer not null check (version > 1),
  wrapped integer not null default 1,
  rotated_at timestamptz not null default now()
);
