-- Evidence packs: the changes of their rows, each with what belongs to it.

-- Asks for a pack. Raises EG022 where the account has that number of packs that are not made yet. Raises EG029 where
-- the account is being deleted: the request may have been admitted before, and nothing would remove the pack.
create or replace function add_pack(new_id text, of_account text, from_time timestamptz, to_time timestamptz,
  most_nj numeric, most_pusd numeric, most int) returns void language plpgsql as $$
begin
  perform lock_account(of_account);
  if exists (select from account_deletions where account = of_account) then
    raise exception 'the account is being deleted' using errcode = 'EG029';
  end if;
  perform pg_advisory_xact_lock(4207715, hashtext(of_account));
  if (select count(*) from evidence_packs where account = of_account and status in ('waiting', 'running')) >= most then
    raise exception 'too many packs' using errcode = 'EG022';
  end if;
  insert into evidence_packs (id, account, from_at, to_at, ceiling_nj, ceiling_pusd, created_at, due_at)
  values (new_id, of_account, from_time, to_time, most_nj, most_pusd, ledger_now(), ledger_now());
  perform pg_notify('ergon_packs', '');
end $$;

-- The next pack that is due. An account with several packs does not go before others.
create or replace function next_pack() returns setof evidence_packs language sql stable as $$
  select p.* from evidence_packs p join (
    select id, due_at, row_number() over (partition by account order by id) as nth
    from evidence_packs where status = 'waiting'
  ) waiting using (id)
  where waiting.due_at <= ledger_now() order by nth, id limit 1
$$;

-- Lets a pack wait, with the reason, so that others go first.
create or replace function postpone_pack(pack text, why text, wait_ms bigint) returns void language sql as $$
  update evidence_packs set reason = why, due_at = ledger_now() + wait_ms * interval '1 ms'
  where id = pack and status = 'waiting'
$$;

-- Begins the work of a pack; its number of attempts, or null where the pack was deleted.
create or replace function start_pack(pack text) returns int language sql as $$
  update evidence_packs set status = 'running', reason = null, attempts = attempts + 1, done = 0, total = null
  where id = pack and status = 'waiting' returning attempts
$$;

-- Names the stored file of a pack and tells its account; false where the pack was deleted meanwhile.
create or replace function finish_pack(pack text, stored jsonb, manifest text) returns boolean language plpgsql as $$
declare
  made evidence_packs;
begin
  update evidence_packs set status = 'ready', reason = null, blob = (stored ->> 'id')::uuid, manifest_sha256 = manifest,
    ended_at = ledger_now(), done = total
  where id = pack and status = 'running' returning * into made;
  if not found then return false; end if;
  perform storage_hold(jsonb_build_array(stored), false);
  perform emit_event(made.account, 'compliance.evidence_ready', jsonb_build_object('pack_id', made.id,
    'from', pack_time(made.from_at), 'to', pack_time(made.to_at)));
  return true;
end $$;

create or replace function pack_time(at timestamptz) returns text language sql immutable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Removes a pack and its file; false where there is none.
create or replace function drop_pack(pack text) returns boolean language plpgsql as $$
declare
  gone evidence_packs;
begin
  delete from evidence_packs where id = pack returning * into gone;
  if not found then return false; end if;
  if gone.blob is not null then perform storage_release(array[gone.blob]); end if;
  perform pg_notify('ergon_packs', pack);
  return true;
end $$;

-- Removes packs that ended that number of days ago, at most `most`; returns their number.
create or replace function expire_packs(days int, most int) returns int language sql as $$
  select count(*)::int from (
    select drop_pack(id) from (select id from evidence_packs
      where status in ('ready', 'failed') and ended_at < ledger_now() - days * interval '1 day'
      order by ended_at limit most) old) dropped
$$;
