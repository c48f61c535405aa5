-- Events of buckets get the rule that wanted them, and an order in which readers miss none: ids are given
-- before a transaction commits, so only what is older than every running transaction is read, by
-- transaction and id.
alter table storage_events
  add column rule text not null default '',
  add column transaction xid8 not null default pg_current_xact_id();
create index storage_events_by_bucket on storage_events (bucket, transaction, id);
create index storage_events_by_age on storage_events (at);

-- Events that are not kept any more: how many, and the greatest id of them.
alter table buckets
  add column events_dropped bigint not null default 0,
  add column events_dropped_to bigint not null default 0;
