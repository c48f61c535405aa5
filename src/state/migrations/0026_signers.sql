-- What jobs saw of the five signers, for metrics and for the page of keys; and the operator's word that a new
-- key may be made, without which a log that has a key waits for it.
create table receipt_signers (
  is_one boolean primary key default true check (is_one),
  -- By number: ready, unfinished, none, other key, false share, silent (src/signers/shares.ts).
  states jsonb not null default '{}',
  looked_at timestamptz,
  new_key_ordered_at timestamptz
);
insert into receipt_signers default values;

-- Shards that the signers signed and this state does not have, as it was restored to before them: receipts that
-- were handed out need their keys.
create table receipt_lost_shards (
  origin text primary key,
  shard text not null,
  public_key bytea not null check (length(public_key) = 32),
  valid_from timestamptz not null
);
