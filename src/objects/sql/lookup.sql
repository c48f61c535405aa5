-- Adds the current row of its blob to each part: a move changes the location. Checksums are 22 KB for each GiB.
create or replace function storage_located(parts jsonb, with_checksums boolean) returns jsonb language plpgsql stable as $$
begin
  return (select jsonb_agg(p.part || jsonb_build_object('blob',
      jsonb_build_object('id', b.id, 'location', b.location, 'size', b.size)
        || case when with_checksums then jsonb_build_object('checksum', b.checksum) else '{}' end) order by p.n)
    from jsonb_array_elements(parts) with ordinality p (part, n)
    join blobs b on b.id = (p.part ->> 'blob')::uuid);
end $$;
