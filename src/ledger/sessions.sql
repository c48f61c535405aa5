-- Time, ids, events, changes of credentials, and the sessions of our processes.

-- The ledger's time: the server's, or that of a test.
create or replace function ledger_now() returns timestamptz language sql volatile as $$
  select coalesce(nullif(current_setting('ergon.now', true), '')::timestamptz, clock_timestamp())
$$;

-- A prefix and a UUIDv7 as 26 characters of Crockford base32, as base/ids.ts makes them.
create or replace function new_id(prefix text, at timestamptz) returns text language sql volatile as $$
  with uuid as (
    select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
      || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14) as hex
  ), bits as (select '00' || ('x' || hex)::bit(128)::text as digits from uuid)
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', substr(digits, 5 * n + 1, 5)::bit(5)::int + 1, 1), '' order by n)
  from bits, generate_series(0, 25) n
$$;

-- Adds an event of an account; its row is the lock of the sequence.
create or replace function emit_event(account_id text, event_type text, event_data jsonb)
returns void language plpgsql as $$
declare
  now_at constant timestamptz := ledger_now();
  number bigint;
begin
  update accounts set event_count = event_count + 1 where id = account_id returning event_count into strict number;
  insert into events (id, type, account, sequence, occurred_at, data) values (
    new_id('evt', now_at), event_type, account_id, number, now_at,
    event_data || jsonb_build_object('account_id', account_id, 'sequence', number));
end $$;

-- Numbers a change of a token or an account that sessions must forget. The lock makes numbers commit in
-- their order: a session that saw 6 has seen 5.
create or replace function change_credentials(token_id text, account_id text) returns bigint language plpgsql as $$
declare
  made bigint;
begin
  perform pg_advisory_xact_lock(4207702);
  insert into credential_changes (token, account) values (token_id, account_id) returning epoch into made;
  perform pg_notify('ergon_credentials', made::text);
  return made;
end $$;

-- Opens the next life of a process, `life_min` or a later one. It may draw on a reserve (reserves.sql). Fails while an earlier life is open: its journal
-- comes first.
create or replace function open_session(process_name text, life_min int, on_reserve text default null) returns json language plpgsql as $$
declare
  made sessions%rowtype;
begin
  insert into sessions (id, process, life, draws, epoch, until)
  select process_name || '.' || n, process_name, n, on_reserve, coalesce((select max(epoch) from credential_changes), 0),
    ledger_now() + interval '2 seconds'
  from (select greatest(coalesce(max(life), 0) + 1, life_min) as n from sessions where process = process_name) next
  returning * into made;
  return json_build_object('session', made.id, 'epoch', made.epoch);
end $$;

-- Goes over records that a journal no longer has: nothing is ever posted under their numbers, and a row and
-- an alarm say which they were.
create or replace function lose_records(session_id text, first bigint, last bigint) returns void language plpgsql as $$
declare
  me sessions%rowtype;
begin
  select * into me from sessions where id = session_id for no key update;
  if not found or me.closed_at is not null then
    raise exception 'session % is not open', session_id using errcode = 'EG001';
  end if;
  if first <> me.last_seq + 1 or last < first then
    raise exception 'session % has posted since', session_id using errcode = 'EG004';
  end if;
  insert into lost_records (session, first_seq, last_seq) values (session_id, first, last);
  perform raise_alarm('journal_gap', jsonb_build_object('session', session_id,
    'first', first::text, 'last', last::text, 'lost', (last - first + 1)::text));
  update sessions set last_seq = last where id = session_id;
end $$;

-- Ends a life whose journal was posted to its end: what its leases still hold returns to the wallets.
create or replace function close_session(session_id text) returns void language plpgsql as $$
begin
  perform from sessions where id = session_id for no key update;
  perform from wallets where id in (select wallet from leases where session = session_id)
    order by id for no key update;
  update wallets w set reserved = reserved - l.amount from leases l where l.wallet = w.id and l.session = session_id;
  delete from leases where session = session_id;
  delete from shortages where session = session_id;
  update sessions set closed_at = coalesce(closed_at, ledger_now()) where id = session_id;
end $$;

-- Ends a life whose journal is lost. Its settled and unposted charges are the operator's loss, at most the energy
-- that its leases hold.
create or replace function write_off_session(session_id text, reason text) returns void language plpgsql as $$
declare
  me sessions%rowtype;
begin
  select * into me from sessions where id = session_id for no key update;
  if not found or me.closed_at is not null then
    raise exception 'session % is not open', session_id using errcode = 'EG001';
  end if;
  if me.until > ledger_now() then
    raise exception 'session % is alive until %', session_id, me.until using errcode = 'EG005';
  end if;
  perform raise_alarm('session_written_off', jsonb_build_object(
    'session', session_id, 'reason', reason, 'last_seq', me.last_seq,
    'leases', coalesce(jsonb_object_agg(wallet, amount::text), '{}')))
    from leases where session = session_id;
  perform close_session(session_id);
end $$;
