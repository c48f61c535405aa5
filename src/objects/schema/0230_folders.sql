-- The folders of keys that are objects, as a listing with the delimiter `/` shows them: a name below a parent. Presence
-- alone is kept, as counters would make the puts of a folder wait for each other. The functions are in
-- objects/sql/folders.sql.
create table object_folders (
  bucket integer not null,
  -- '' or a text that ends with `/`.
  parent text collate "C" not null,
  -- A name that ends with `/`. Empty: the parent may have keys of its own.
  name text collate "C" not null,
  primary key (bucket, parent, name)
);

-- The rows of storage_folders_of(), which does not exist yet.
insert into object_folders (bucket, parent, name)
select distinct folder.bucket, folder.parent, folder.name from (
  select v.bucket, case when at.depth = 0 then '' else array_to_string(s.segments[1:at.depth], '/') || '/' end as parent,
    case when at.depth < cardinality(s.segments) - 1 then s.segments[at.depth + 1] || '/' else '' end as name
  from object_versions v
  cross join lateral (select string_to_array(v.key, '/') as segments) s
  cross join lateral generate_series(0, least(cardinality(s.segments) - 1, 7)) at (depth)
  where v.is_latest and not v.delete_marker
) folder
where octet_length(folder.parent) <= 256;
