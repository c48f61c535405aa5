-- Adds a database without a role; null when the account has one of that name.
create or replace function add_database(of_account text, of_name text, in_region text, most int, bytes bigint)
returns text language plpgsql as $$
declare
  made constant text := add_resource('database', of_account, of_name, in_region, most);
begin
  if made is null then return null; end if;
  insert into databases (id, size_bytes) values (made, bytes);
  return made;
end $$;

-- Samples databases for their standing charge; see standing_look(). Of a deleted one only the backups are left.
create or replace function database_look(minute_ms bigint, asked text[], zj_per_byte_ms numeric)
returns table (id text, name text, account text, bytes numeric, energy_nj numeric, from_ms bigint, to_ms bigint)
language sql as $$
  select l.* from (
    select array_agg(d.id) as ids, array_agg(n.name) as names, array_agg(n.account) as accounts,
      array_agg((d.backup_bytes
        + case when n.desired = 'deleted' then 0 else d.stored_bytes + d.wal_bytes end)::numeric) as stored
    from databases d join resources n using (id)
    where d.id = any (asked) and (n.desired <> 'deleted' or d.backup_bytes > 0)
  ) p, lateral standing_look('database', minute_ms, zj_per_byte_ms, asked, p.ids, p.names, p.accounts, p.stored) l
$$;

-- Records that the server of a database does not start. A deployed database is in a crash loop from then on, and the
-- reconciler tries it again. The operator gets one alarm.
create or replace function fail_database(of_id text, why text, in_log text) returns void language plpgsql as $$
declare
  named resources;
begin
  select * into named from resources where id = of_id for update;
  if not found then return; end if;
  perform raise_alarm('database_failing', jsonb_build_object('database', of_id, 'account', named.account,
    'name', named.name, 'log', in_log), of_id);
  if named.actual = 'deployed' and named.wanted = 'deployed' then
    perform move_resource(of_id, 'crash_loop', why);
    update resources set revision = revision + 1 where id = of_id;
    perform pg_notify('ergon_resources', 'database');
  end if;
end $$;

-- Tells the account of a database whose server does not start, or starts again, in the transaction that records it.
create or replace function tell_database_state() returns trigger language plpgsql as $$
begin
  if new.actual = 'crash_loop' then
    perform emit_event(new.account, 'database.failed', jsonb_build_object('database_id', new.id,
      'database_name', new.name, 'reason', new.reason));
  else
    perform emit_event(new.account, 'database.recovered', jsonb_build_object('database_id', new.id,
      'database_name', new.name));
  end if;
  return null;
end $$;
create or replace trigger database_state after update of actual on resources for each row
  when (new.kind = 'database' and new.actual <> old.actual
    and (new.actual = 'crash_loop' or new.actual = 'deployed' and old.actual = 'crash_loop'))
  execute function tell_database_state();

-- Deletes a database: nobody can connect any more. From now on its backups alone are charged. Those that are not done end:
-- the copies that are done, and the log, have its last state.
create or replace function delete_database(of_id text) returns void language sql as $$
  -- Backups and restores that are asked for meanwhile wait for this row, and then see the deletion.
  select from databases where id = of_id for no key update;
  select standing_end('database', n.id, n.name, n.account) from resources n join databases d using (id)
  where n.id = of_id and d.backup_bytes = 0;
  delete from database_statements where database = of_id;
  delete from resource_intervals where resource = of_id;
  update database_restores set status = 'failed', reason = 'it was deleted' where database = of_id and status <> 'done';
  update database_backups set status = 'failed', reason = 'the database was deleted', ended_at = ledger_now()
  where database = of_id and status in ('wanted', 'running');
  select want_resource(of_id, 'deleted');
$$;

-- Gives up the end of the log of a deleted database: what is not stored goes with the files, and what is stored behind a
-- lost part without a copy is of no use. Tells the account from when on no time can be restored, and the operator that log
-- is lost; once.
create or replace function lose_last_log(of_id text, why text) returns void language plpgsql as $$
declare
  since text;
begin
  insert into database_log_gaps as g (database, from_lsn, to_lsn, stored_to)
  select id, coalesce((log_gap_behind(id)).from_lsn, log_end(id)), 'FFFFFFFF/FFFFFFFF', log_stored_at
    from databases where id = of_id
  on conflict (database, from_lsn) do update set to_lsn = excluded.to_lsn where g.to_lsn < excluded.to_lsn
  returning to_char(stored_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') into since;
  if not found then return; end if;
  -- Nothing waits any more.
  update databases set is_archived = true, is_log_late = false where id = of_id;
  perform raise_alarm('database_log_lost', jsonb_build_object('database', of_id, 'since', since));
  perform emit_event(account, 'database.log_lost', jsonb_build_object('database_id', id, 'database_name', name,
    'since', since, 'reason', why)) from resources where id = of_id;
end $$;

-- Removes the databases of an account that is being deleted, with their backups; returns what it waits for.
create or replace function leave_databases(of_account text) returns text language plpgsql as $$
declare
  mine text[];
begin
  perform delete_database(id) from resources
    where account = of_account and kind = 'database' and desired <> 'deleted' order by id;
  if exists (select from resources where account = of_account and kind = 'database' and actual <> 'deleted') then
    return 'databases are being removed';
  end if;
  mine := array(select id from resources where account = of_account and kind = 'database');
  perform drop_backup(id) from database_backups where database = any (mine);
  perform drop_wal(id) from unnest(mine) as id;
  perform standing_end('database', id, name, account) from resources where id = any (mine);
  delete from database_roles where database = any (mine);
  update resources set name = id where id = any (mine) and name <> id;
  return null;
end $$;
