-- Readers of events go on at a pair of transaction and id, so the greatest that is not kept is such a pair
-- too: `events_dropped_to` is its id. Of what was dropped before this only the greatest id is known; its
-- transaction is taken to be that of the oldest event kept, or now: a reader may be told once too often that
-- it missed some, and not too seldom.
alter table buckets add column events_dropped_transaction xid8 not null default '0';

update buckets b set events_dropped_transaction = coalesce(
  (select e.transaction from storage_events e where e.bucket = b.id order by e.transaction, e.id limit 1),
  pg_current_xact_id()
) where events_dropped > 0;
