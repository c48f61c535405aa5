-- What the key of the shard before signed of this shard's key, where the signers changed theirs while three had it:
-- a note that clients take the new key by.
alter table receipt_shards add column handover text;
