-- The standing charge of stored bytes: what each bucket stored when it was last looked at, and what an
-- account must keep of its balance so that more may be stored.

create table storage_samples (
  -- Without a foreign key, as its check would lock the bucket's row.
  bucket integer primary key,
  at_ms bigint not null,
  bytes bigint not null
) with (fillfactor = 50);

create table storage_reserves (
  account text collate "C" primary key references accounts (id),
  pusd numeric(38, 0) not null
);
