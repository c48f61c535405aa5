-- The public log over charges: shards with their keys, signed tree heads, tiles, and the signers. The sealer
-- of the current epoch writes; gateways read.

-- A shard is one log with one name. Rows are never deleted: old receipts need their key.
create table receipt_shards (
  origin text primary key,
  shard text not null unique,
  public_key bytea not null check (length(public_key) = 32),
  -- charges.leaf_index of the first charge in this shard. The shard's own indices begin at 0.
  first_leaf bigint not null check (first_leaf >= 0),
  -- The last checkpoint of the shard before, as text. It is leaf 0 of this shard, and charges begin at 1.
  link text,
  valid_from timestamptz not null,
  -- The signature of the key of the shard before over this shard's key, while three of the former shares
  -- were left: a note by which clients accept the new key.
  handover text
);

create table receipt_checkpoints (
  origin text not null references receipt_shards,
  size bigint not null check (size > 0),
  root bytea not null check (length(root) = 32),
  note text not null,
  sealed_at timestamptz not null default now(),
  primary key (origin, size)
);

-- C2SP tlog-tiles: up to 256 hashes of a level. A partial tile of an older size is a prefix.
create table receipt_tiles (
  origin text not null references receipt_shards,
  level smallint not null check (level between 0 and 6),
  index bigint not null check (index >= 0),
  hashes bytea not null check (length(hashes) % 32 = 0 and length(hashes) between 32 and 8192),
  primary key (origin, level, index)
);
-- Hashes do not compress.
alter table receipt_tiles alter column hashes set storage external;

-- The fence: a sealer that lost the lock finds a greater epoch here and saves nothing.
create table receipt_sealer (
  one boolean primary key default true check (one),
  epoch bigint not null
);
insert into receipt_sealer (epoch) values (0);

-- The last observation of the five signers, for metrics and for the page of keys; and the operator's order for a new
-- key, without which a log that has a key waits for that key.
create table receipt_signers (
  is_one boolean primary key default true check (is_one),
  -- By number: ready, unfinished, none, other key, false share, silent (signers/shares.ts).
  states jsonb not null default '{}',
  looked_at timestamptz,
  new_key_ordered_at timestamptz
);
insert into receipt_signers default values;

-- Shards that the signers signed and this state lacks, because the state was restored to a time before
-- them: receipts that were handed out need their keys.
create table receipt_lost_shards (
  origin text primary key,
  shard text not null,
  public_key bytea not null check (length(public_key) = 32),
  valid_from timestamptz not null
);
