-- Moves versions to other storage classes: [{key, seq, etag, modifiedMs, storageClass}]. A version that is another one
-- by now is left as it is. Answers how many were moved. A lock of an object is none against its class.

create or replace function storage_transition(bucket_id int, changes jsonb) returns int language plpgsql as $$
declare
  moved int;
begin
  if (storage_enter(bucket_id)).id is null then return 0; end if;
  -- In order, so that two batches cannot wait for each other.
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
