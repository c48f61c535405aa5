-- Not a function: runs at each start. A dump that was restored into another cluster has transaction numbers of the
-- old cluster, and the new cluster begins at lower numbers. Without this statement old events would stay hidden until
-- the new cluster had used as many numbers. The old events move to the beginning of the order, by id.
do $$
begin
  if (select transaction >= pg_snapshot_xmax(pg_current_snapshot())
      from storage_events order by at desc limit 1) then
    update storage_events set transaction = '1';
    update buckets set events_dropped_transaction = '0' where events_dropped > 0;
  end if;
end $$;
