-- One version of a key with its body, the latest when `version` is null. A function, so that its plan is
-- kept.

create or replace function storage_read(bucket_id int, object_key text, version text)
returns table (key text, version_id text, is_latest boolean, delete_marker boolean, size bigint, etag text,
  checksums jsonb, headers jsonb, metadata jsonb, tags jsonb, acl jsonb, retention_mode text,
  retain_until timestamptz, legal_hold boolean, encryption jsonb, storage_class text, owner text,
  modified_at timestamptz, part_count int, annotations jsonb, inline bytea, parts jsonb)
language plpgsql stable as $$
declare
  at_seq bigint;
begin
  if version is not null then
    at_seq := storage_find(bucket_id, object_key, version);
    if at_seq is null then return; end if;
  end if;
  return query select v.key, v.version_id, v.is_latest, v.delete_marker, v.size, v.etag, v.checksums,
    v.headers, v.metadata, v.tags, v.acl, v.retention_mode, v.retain_until, v.legal_hold, v.encryption,
    v.storage_class, v.owner, v.modified_at, v.part_count, v.annotations,
    v.inline, case when v.parts is not null then storage_located(v.parts) end
  from object_versions v
  where v.bucket = bucket_id and v.key = object_key and (at_seq is null or v.seq = at_seq)
  order by v.seq desc limit 1;
end $$;

-- Parts with what is known of their blobs now: where they are changes when they are moved.
create or replace function storage_located(parts jsonb) returns jsonb language plpgsql stable as $$
begin
  return (select jsonb_agg(p.part || jsonb_build_object('blob', jsonb_build_object(
      'id', b.id, 'location', b.location, 'size', b.size, 'checksum', b.checksum)) order by p.n)
    from jsonb_array_elements(parts) with ordinality p (part, n)
    join blobs b on b.id = (p.part ->> 'blob')::uuid);
end $$;
