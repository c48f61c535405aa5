-- A last part of a log that was given up is a gap without an end, as every lost part is a gap.
insert into database_log_gaps (database, from_lsn, to_lsn, stored_to)
  select id, coalesce(greatest((select max(end_lsn) from database_wal where database = d.id),
      (select max(end_lsn) from database_backups where database = d.id and status = 'done')), '0/0'),
    'FFFFFFFF/FFFFFFFF', log_lost_from
  from databases d where log_lost_from is not null
  on conflict (database, from_lsn) do update set to_lsn = excluded.to_lsn;
update databases set is_archived = true, is_log_late = false where log_lost_from is not null;
alter table databases
  drop column log_lost_from,
  -- Why the last try to store that part failed; `last_log_tries` counts those in a row.
  add column last_log_cause text,
  -- When the first try failed.
  add column last_log_tried_from timestamptz;
