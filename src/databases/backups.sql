-- Asks for a backup, which gets a cell of its own. A backup that waits already is as good. Null for a database that is
-- deleted.
create or replace function want_backup(of_database text, of_kind text) returns text language plpgsql as $$
declare
  made text;
begin
  perform from databases where id = of_database for no key update;
  if exists (select from resources where id = of_database and desired = 'deleted') then return null; end if;
  select id into made from database_backups where database = of_database and kind = of_kind and status = 'wanted';
  if found then return made; end if;
  made := new_id('bkp', ledger_now());
  insert into database_backups (id, database, kind, created_at) values (made, of_database, of_kind, ledger_now());
  perform pg_notify('ergon_backups', '');
  return made;
end $$;

-- Asks for the files of a new database from the backups of another one.
create or replace function want_restore(of_database text, of_source text, of_backup text, to_time timestamptz)
returns void language sql as $$
  insert into database_restores (database, source, backup, until) values (of_database, of_source, of_backup, to_time);
  select pg_notify('ergon_backups', '');
$$;

-- Names a stored piece of a backup.
create or replace function keep_part(of_backup text, of_number int, stored jsonb, of_size bigint, of_key jsonb)
returns void language sql as $$
  select storage_hold(jsonb_build_array(stored), false);
  insert into database_parts (backup, number, blob, size, key)
  values (of_backup, of_number, (stored ->> 'id')::uuid, of_size, of_key);
  update databases set backup_bytes = backup_bytes + (stored ->> 'size')::bigint
  where id = (select database from database_backups where id = of_backup);
$$;

-- Names a stored piece of a log.
create or replace function keep_wal(of_database text, from_lsn pg_lsn, to_lsn pg_lsn, of_timeline int, stored jsonb,
  of_size bigint, of_key jsonb)
returns void language sql as $$
  select storage_hold(jsonb_build_array(stored), false);
  insert into database_wal (database, begin_lsn, end_lsn, timeline, blob, size, key, stored_at)
  values (of_database, from_lsn, to_lsn, of_timeline, (stored ->> 'id')::uuid, of_size, of_key, ledger_now());
  update databases set backup_bytes = backup_bytes + (stored ->> 'size')::bigint where id = of_database;
$$;

-- Notes that everything is stored that a server had written by a time; `late_ms` later the log would be late.
create or replace function log_stored(of_database text, by_ms bigint, late_ms bigint) returns void language sql as $$
  update databases set log_stored_at = by_at, is_log_late = is_log_late and by_at < ledger_now() - late_ms * interval '1 ms'
  from to_timestamp(by_ms / 1000.0) by_at where id = of_database;
$$;

-- Tells the operator that the log of a database waits to be stored: once, until it is stored again.
create or replace function tell_late_log(of_database text, waiting_bytes bigint default null) returns void
language plpgsql as $$
begin
  update databases set is_log_late = true where id = of_database and not is_log_late;
  if not found then return; end if;
  perform raise_alarm('database_log_waiting', jsonb_strip_nulls(jsonb_build_object('database', id,
    'stored_to', log_stored_at, 'waiting_bytes', waiting_bytes))) from databases where id = of_database;
end $$;

-- Finds log that is late, also of servers that have stopped since, and where nobody stores logs.
create or replace function tell_late_logs(late_ms bigint) returns void language sql as $$
  select tell_late_log(d.id) from databases d join resources n using (id)
  where not d.is_archived and n.actual <> 'deleted' and d.log_stored_at < ledger_now() - late_ms * interval '1 ms';
$$;

-- Gives up blobs of the backups of a database.
create or replace function drop_backup_blobs(of_database text, ids uuid[]) returns void language sql as $$
  update databases set backup_bytes = backup_bytes - coalesce((select sum(size) from blobs where id = any (ids)), 0)
  where id = of_database;
  select storage_release(ids);
$$;

-- Removes the pieces of a backup: of one that failed, or that begins anew.
create or replace function drop_parts(of_backup text) returns void language sql as $$
  with gone as (delete from database_parts where backup = of_backup returning blob)
  select drop_backup_blobs((select database from database_backups where id = of_backup), array(select blob from gone));
$$;

create or replace function drop_backup(of_backup text) returns boolean language plpgsql as $$
begin
  perform drop_parts(of_backup);
  delete from database_backups where id = of_backup;
  return found;
end $$;

-- The copy that the first time of the retention needs: the newest one from before, or the oldest. From its end on each
-- moment can be restored.
create or replace function first_backup(of_database text, kept_ms bigint) returns database_backups
language sql stable as $$
  select b from database_backups b
  where b.database = of_database and b.status = 'done'
  order by case when ended_at < ledger_now() - kept_ms * interval '1 ms' then ended_at end desc nulls last, ended_at
  limit 1
$$;

-- The times that a database can be restored to: from the end of a copy, `base`, to the time up to which the log behind is
-- stored, or to now, which is null. In whole milliseconds, as times are given.
create or replace function restorable_times(of_database text, kept_ms bigint)
returns table (base text, from_at timestamptz, to_at timestamptz) language sql stable as $$
  select distinct on (g.from_lsn) b.id, date_trunc('milliseconds', b.ended_at + interval '999 microseconds'),
    date_trunc('milliseconds', g.stored_to)
  from first_backup(of_database, kept_ms) f
    join database_backups b on b.database = f.database and b.status = 'done' and b.ended_at >= f.ended_at
    left join lateral (select * from database_log_gaps where database = f.database and from_lsn >= b.begin_lsn
      order by from_lsn limit 1) g on true
  where g.stored_to is null or g.stored_to > b.ended_at
  order by g.from_lsn, b.ended_at
$$;

-- The same as JSON, the earliest first.
create or replace function restorable_json(of_database text, kept_ms bigint) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('from', from_at, 'to', to_at) order by from_at), '[]')
  from restorable_times(of_database, kept_ms)
$$;

-- The first part of a log that was lost behind the last copy.
create or replace function log_gap_behind(of_database text) returns database_log_gaps language sql stable as $$
  select g from database_log_gaps g
  where g.database = of_database and g.from_lsn >= (select begin_lsn from database_backups
    where database = of_database and status = 'done' order by ended_at desc limit 1)
  order by g.from_lsn limit 1
$$;

-- Where the stored log ends; without any, at the end of the last copy.
create or replace function log_end(of_database text) returns pg_lsn language sql stable as $$
  select coalesce(greatest((select end_lsn from database_wal where database = of_database order by begin_lsn desc limit 1),
    (select max(end_lsn) from database_backups where database = of_database and status = 'done')), '0/0')
$$;

-- Since when rows may be missing in the backups of a deleted database; null for another one, or where none is missing.
create or replace function log_lost_from(of_database text) returns timestamptz language sql stable as $$
  select date_trunc('milliseconds', (log_gap_behind(id)).stored_to) from resources
  where id = of_database and desired = 'deleted'
$$;

-- Notes a part of a log that was never stored. Tells the operator, and asks for a copy from behind the part: times after
-- the copy can be restored. False where the part is known.
create or replace function note_log_gap(of_database text, from_at pg_lsn, to_at pg_lsn) returns boolean
language plpgsql as $$
declare
  is_new boolean;
begin
  insert into database_log_gaps (database, from_lsn, to_lsn, stored_to)
  select id, from_at, to_at, log_stored_at from databases where id = of_database
  on conflict (database, from_lsn) do update set to_lsn = greatest(database_log_gaps.to_lsn, excluded.to_lsn)
  returning xmax = 0 into is_new;
  if is_new then
    perform raise_alarm('database_log_lost', jsonb_build_object('database', of_database, 'from', from_at, 'to', to_at));
    perform want_backup(of_database, 'nightly');
  end if;
  return is_new;
end $$;

-- True while an accepted restore has not copied its files yet: it may need each copy and piece of log of its source.
create or replace function awaits_restore(of_database text) returns boolean language sql stable as $$
  select exists (select from database_restores where source = of_database and status in ('wanted', 'running'))
$$;

-- Deletes a backup for its owner. One with which the times begin that can be restored becomes a nightly one, which ends
-- with the retention. True where it is gone.
create or replace function delete_backup(of_backup text, kept_ms bigint) returns boolean language plpgsql as $$
begin
  update database_backups b set kind = 'nightly'
  where id = of_backup and exists (select from restorable_times(b.database, kept_ms) where base = b.id);
  if found then return false; end if;
  perform drop_backup(of_backup);
  return true;
end $$;

-- True where the log begins before the copy that the first time of the retention needs.
create or replace function has_old_wal(of_database text, kept_ms bigint) returns boolean language sql stable as $$
  select exists (select from (select end_lsn from database_wal where database = of_database order by begin_lsn limit 1) w
      where w.end_lsn <= (first_backup(of_database, kept_ms)).begin_lsn)
    or exists (select from database_log_gaps where database = of_database
      and to_lsn <= (first_backup(of_database, kept_ms)).begin_lsn)
$$;

-- Removes the log from before that copy, except what another copy needs to be consistent. The subqueries find the copy
-- once: as a condition of each row, a log of 50,000 pieces took 3 s each minute.
create or replace function drop_old_wal(of_database text, kept_ms bigint) returns void language sql as $$
  with gone as (
    delete from database_wal w where w.database = of_database
      and w.end_lsn <= (select begin_lsn from first_backup(of_database, kept_ms))
      and not exists (select from database_backups b where b.database = of_database and b.status = 'done'
        and w.begin_lsn <= b.end_lsn and w.end_lsn > b.begin_lsn - 1048576)
    returning blob
  )
  select drop_backup_blobs(of_database, array(select blob from gone));
  delete from database_log_gaps
  where database = of_database and to_lsn <= (select begin_lsn from first_backup(of_database, kept_ms));
$$;

-- The bytes of the log since the end of a copy. The server fills the segment (1 MiB) in which a copy ends.
create or replace function log_since(copy database_backups) returns numeric language sql stable as $$
  select coalesce((select w.end_lsn - '0/0'::pg_lsn from database_wal w where w.database = copy.database
      order by w.begin_lsn desc limit 1), 0)
    - ceil((copy.end_lsn - '0/0'::pg_lsn) / 1048576) * 1048576
$$;

-- True where a part of the log behind the last copy was never stored: nothing from then on can be restored.
create or replace function is_log_cut(of_database text) returns boolean language sql stable as $$
  select exists (select from database_log_gaps g where g.database = of_database and not exists (
    select from database_backups b where b.database = g.database and b.status = 'done' and b.begin_lsn > g.from_lsn))
$$;

-- Nightly backups that are due: each day, of databases that wrote since the last copy. A start and a stop of the server
-- write some hundred bytes of log, and a restore replays a MiB at once. One that failed is tried again an hour later. One
-- from when the clock was ahead does not count, and no copy does while the log behind the last one is cut.
create or replace function want_nightly_backups(day_ms bigint) returns void language sql as $$
  select want_backup(d.id, 'nightly') from databases d join resources n using (id)
  where n.wanted = 'deployed' and n.actual = 'deployed'
    and not exists (select from database_backups b where b.database = d.id
      and not (b.status = 'done' and is_log_cut(d.id)) and (
      b.kind = 'nightly' and (b.status in ('wanted', 'running') or b.created_at <= ledger_now() and b.created_at
        > ledger_now() - day_ms * interval '1 ms' / case b.status when 'failed' then 24 else 1 end)
      or b.status = 'done' and (d.is_archived or d.log_stored_at > ledger_now() - interval '1 hour')
        and log_since(b) < 1048576));
$$;

-- Raises an alarm for each database whose nightly backups failed three times or more since its last copy, once for each
-- such row of failures. Databases that their accounts do not pay raise none. Returns the databases of new alarms.
create or replace function tell_failed_backups() returns setof text language sql as $$
  select database from (
    select b.database, min(b.id) as first, min(b.created_at) as since, count(*) as failed,
      (array_agg(b.reason order by b.id desc))[1] as reason
    from database_backups b join resources n on n.id = b.database
    where n.wanted = 'deployed' and b.kind = 'nightly' and b.status = 'failed' and not b.is_unpaid
      and b.id > coalesce((select max(id) from database_backups where database = b.database and status = 'done'), '')
    group by b.database having count(*) >= 3
  ) failing
  where raise_alarm('database_backup_failing', jsonb_build_object('database', database, 'since', since, 'failed', failed,
    'reason', reason), first, true)
$$;

-- Removes the log behind a position; nothing for null.
create or replace function drop_wal_from(of_database text, from_at pg_lsn) returns void language sql as $$
  with gone as (delete from database_wal where database = of_database and begin_lsn >= from_at returning blob)
  select drop_backup_blobs(of_database, array(select blob from gone));
$$;

create or replace function drop_wal(of_database text) returns void language sql as $$
  delete from database_log_gaps where database = of_database;
  select drop_wal_from(of_database, '0/0');
$$;

-- True for a backup that no time of the retention needs, and for one that failed before it.
create or replace function is_backup_old(b database_backups, kept_ms bigint) returns boolean language sql stable as $$
  select b.status = 'failed' and b.created_at < ledger_now() - kept_ms * interval '1 ms'
    or b.status = 'done' and b.kind = 'nightly' and b.ended_at < (first_backup(b.database, kept_ms)).ended_at
$$;

-- True for a database that was deleted before the retention, or without a copy: nothing of it can be restored.
create or replace function is_database_over(of_database text, kept_ms bigint) returns boolean language sql stable as $$
  select n.actual = 'deleted' and d.backup_bytes > 0 and (n.changed_at < ledger_now() - kept_ms * interval '1 ms'
    or not exists (select from database_backups b where b.database = n.id and b.status <> 'failed'))
  from resources n join databases d using (id) where n.id = of_database
$$;

-- Removes what no time of the retention needs, backups that failed before it, and everything of databases that were
-- deleted before it. A source of a restore that is accepted keeps all until the restore has its files. Of a database that
-- was deleted without a copy nothing can be restored: its log goes at once.
create or replace function expire_backups(kept_ms bigint) returns void language plpgsql as $$
declare
  old text;
begin
  -- The deletion of a database ends a backup, whose pieces an agent that is killed leaves.
  perform drop_parts(b.id) from database_backups b
    where b.status = 'failed' and exists (select from database_parts where backup = b.id);
  for old in
    select k.id from (select database as id from database_backups
      union select id from databases where backup_bytes > 0) k
    where (exists (select from database_backups b where b.database = k.id and is_backup_old(b, kept_ms))
        or has_old_wal(k.id, kept_ms) or is_database_over(k.id, kept_ms))
      and not awaits_restore(k.id)
    order by k.id
  loop
    -- A restore that is accepted in the same instant has the lock first, or does not find what is removed here.
    perform from databases where id = old for no key update;
    continue when awaits_restore(old);
    perform drop_backup(b.id) from database_backups b where b.database = old and is_backup_old(b, kept_ms);
    perform drop_old_wal(old, kept_ms);
    if is_database_over(old, kept_ms) then
      perform drop_backup(b.id) from database_backups b where b.database = old;
      perform drop_wal(old);
      perform standing_end('database', n.id, n.name, n.account) from resources n where n.id = old;
    end if;
  end loop;
end $$;

-- The time up to which the stored log of a database has everything; null where nothing is missing in it.
create or replace function stored_only_to(of_database text) returns timestamptz language sql stable as $$
  select date_trunc('milliseconds', coalesce((log_gap_behind(id)).stored_to, case when not is_archived then log_stored_at end))
  from databases where id = of_database
$$;

-- Asks for the files of a database that lost them, from its own backups: of all that is stored. Log behind a lost part
-- without a copy is of no use. False where it has no copy yet.
create or replace function want_own_restore(of_database text) returns boolean language plpgsql as $$
begin
  perform from databases where id = of_database for no key update;
  if exists (select from resources where id = of_database and desired = 'deleted')
    or not exists (select from database_backups where database = of_database and status = 'done')
  then return false; end if;
  delete from database_restores where database = of_database and status in ('done', 'failed');
  if exists (select from database_restores where database = of_database) then return true; end if;
  perform drop_wal_from(of_database, (log_gap_behind(of_database)).from_lsn);
  perform want_restore(of_database, of_database, null, null);
  perform want_resource(id, desired) from resources where id = of_database;
  return true;
end $$;

-- Records that restored files are recovered. Of a database that was restored in its own place the account hears since when
-- rows may be missing.
create or replace function end_restore(of_database text) returns void language plpgsql as $$
declare
  is_own boolean;
  since constant timestamptz := stored_only_to(of_database);
begin
  update database_restores set status = 'done' where database = of_database returning source = database into is_own;
  if is_own and since is not null then
    perform emit_event(account, 'database.log_lost', jsonb_build_object('database_id', id, 'database_name', name,
      'since', to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'reason', 'its files were lost, and were restored from its backups'))
    from resources where id = of_database;
  end if;
end $$;
