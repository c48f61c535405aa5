-- The size of a volume is that of its file, which the agent notes; a version has the size that was asked for.
alter table workload_volumes alter column size_bytes set default 0;
alter table workload_volumes drop constraint workload_volumes_size_bytes_check;
alter table workload_volumes add constraint workload_volumes_size_bytes_check check (size_bytes >= 0);
-- A live version has its volumes. More may have been asked for since, and not made.
update workload_volumes o set size_bytes = m.size_bytes
from resources n join workload_versions v on v.workload = n.id and v.version = n.live_version,
  jsonb_to_recordset(v.volumes) as m (name text, size_bytes bigint)
where n.id = o.workload and m.name = o.name and m.size_bytes < o.size_bytes;
