-- Not a function: run at each start. A dump that was restored into another cluster has transactions of the old
-- one, where those of this one begin anew: its events would be hidden until this cluster had used up as many, and
-- new ones would come before them. They go to the beginning of the order, by their ids.
do $$
begin
  if (select transaction >= pg_snapshot_xmax(pg_current_snapshot())
      from storage_events order by at desc limit 1) then
    update storage_events set transaction = '1';
    update buckets set events_dropped_transaction = '0' where events_dropped > 0;
  end if;
end $$;
