-- Sets the storage class of versions: [{key, seq, etag, modifiedMs, storageClass}]. A version that changed meanwhile
-- is left alone. Returns the number of changed versions. Object lock does not protect the storage class.

create or replace function storage_transition(bucket_id int, changes jsonb) returns int language plpgsql as $$
declare
  moved int;
begin
  if (storage_enter(bucket_id)).id is null then return 0; end if;
  -- In one order, so that two batches cannot deadlock.
  perform pg_advisory_xact_lock(4207711, stripe) from (
    select distinct storage_stripe(bucket_id, c ->> 'key') as stripe
    from jsonb_array_elements(changes) c order by stripe offset 0
  ) stripes;
  update object_versions v set storage_class = c."storageClass"
  from jsonb_to_recordset(changes) c (key text, seq bigint, etag text, "modifiedMs" bigint, "storageClass" text)
  where v.bucket = bucket_id and v.key = c.key collate "C" and v.seq = c.seq and v.etag = c.etag
    and storage_ms(v.modified_at) = c."modifiedMs" and not v.delete_marker;
  get diagnostics moved = row_count;
  return moved;
end $$;
