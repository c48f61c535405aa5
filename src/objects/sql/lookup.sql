-- Parts with what is known of their blobs now: where they are changes when they are moved.
create or replace function storage_located(parts jsonb) returns jsonb language plpgsql stable as $$
begin
  return (select jsonb_agg(p.part || jsonb_build_object('blob', jsonb_build_object(
      'id', b.id, 'location', b.location, 'size', b.size, 'checksum', b.checksum)) order by p.n)
    from jsonb_array_elements(parts) with ordinality p (part, n)
    join blobs b on b.id = (p.part ->> 'blob')::uuid);
end $$;
