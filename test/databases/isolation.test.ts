// Attacks on the server of a database, on the node and on the roles of the service: as the owner of the database and as
// a role that only reads, through the endpoint. Each has the codes that it may be refused with, so that a probe with a
// mistake of its own does not count.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { makeDatabase, until, urlOfRole, withClient } from './driver.ts'

product(PLAIN)

/** insufficient_privilege, and what PostgreSQL says of things that are not there for the role. */
const DENIED = '42501'
const NOT_SERVED = '0A000'
const RESERVED = '42939'
const UNKNOWN = '42704'
const NOT_FOUND = '42883'
const NO_FILE = '58P01'
const FIXED = '55P02'

type Probe = readonly [sql: string, ...codes: readonly string[]]

const FILES: readonly Probe[] = [
  ["select pg_read_file('/etc/passwd')", DENIED],
  ["select pg_read_binary_file('postgresql.auto.conf')", DENIED],
  ["select pg_ls_dir('/')", DENIED],
  ["select pg_stat_file('/proc/1/status')", DENIED],
  ['select pg_ls_waldir()', DENIED],
  ['select pg_ls_logdir()', DENIED],
  ["select lo_import('/etc/passwd')", DENIED],
  ["select lo_export(1, '/tmp/out')", DENIED],
  ["create temporary table t (l text); copy t from '/proc/self/environ'", DENIED],
  ["copy (select 1) to '/tmp/out'", DENIED],
  ["copy (select 1) to program 'id'", DENIED],
  ["create temporary table t (l text); copy t from program 'cat /proc/1/cmdline'", DENIED],
  ["create tablespace t location '/tmp'", DENIED],
  ["load '/tmp/x.so'", DENIED],
  ["load '$libdir/plugins/../plpgsql'", DENIED],
]
const SERVER: readonly Probe[] = [
  ["alter system set fsync = 'off'", DENIED],
  ['alter system reset all', DENIED],
  ['select pg_reload_conf()', DENIED],
  ['select pg_rotate_logfile()', DENIED],
  ['select pg_switch_wal()', DENIED],
  ["select pg_create_restore_point('x')", DENIED],
  ["select pg_backup_start('x')", DENIED],
  ['select pg_promote()', DENIED],
  ['checkpoint', DENIED],
  ["set temp_file_limit = '-1'", DENIED],
  ["set log_statement = 'all'", DENIED],
  ["set session_preload_libraries = 'x'", DENIED],
  ["set session_replication_role = 'replica'", DENIED],
  ["set dynamic_library_path = '/tmp'", DENIED],
  ['set zero_damaged_pages = on', DENIED],
  ["select set_config('max_stack_depth', '1GB', false)", DENIED],
  ['show data_directory', DENIED],
  ['show hba_file', DENIED],
  ['select * from pg_hba_file_rules', DENIED],
  ['select * from pg_file_settings', DENIED],
  ['select * from pg_shmem_allocations', DENIED],
  ["select pg_create_physical_replication_slot('s')", DENIED],
  ["select pg_create_logical_replication_slot('s', 'pgoutput')", DENIED, '55000'],
  ["select pg_replication_origin_create('o')", DENIED],
  ['select pg_terminate_backend(pid) from pg_stat_activity where usesysid is null', DENIED],
  ['select pg_log_backend_memory_contexts(pg_backend_pid())', DENIED],
]
const ROLES: readonly Probe[] = [
  ['create role other superuser', DENIED],
  ['alter role current_user superuser', DENIED],
  ["alter role postgres password 'x'", DENIED],
  ['alter role postgres set search_path = public', DENIED],
  ['alter role current_user set post_auth_delay = 1', FIXED],
  ['grant pg_read_server_files to current_user', DENIED],
  ['grant pg_execute_server_program to current_user', DENIED],
  ['grant postgres to current_user', DENIED],
  ['set role postgres', DENIED],
  ['set role pg_write_server_files', DENIED],
  ['set session authorization postgres', DENIED],
  ['reassign owned by postgres to current_user', DENIED],
  ['drop owned by postgres', DENIED],
  ['alter default privileges for role postgres grant all on tables to public', DENIED],
  ['select rolpassword from pg_authid', DENIED],
  ['select * from pg_shadow', DENIED],
  ['select * from pg_user_mapping', DENIED],
  ['update pg_catalog.pg_proc set prosecdef = true', DENIED],
  ['insert into pg_catalog.pg_auth_members values (1, 10, 10, 10, true)', DENIED],
  ['create schema pg_mine', RESERVED, DENIED],
]
const CODE: readonly Probe[] = [
  [
    "create function f() returns int language c as '/lib/x86_64-linux-gnu/libc.so.6', 'system'",
    DENIED,
  ],
  ["create function f() returns int language internal as 'pg_reload_conf'", DENIED],
  ["create function f() returns int language plpython3u as 'x'", UNKNOWN],
  ["create function f() returns int language plperl as 'x'", UNKNOWN],
  [
    'create event trigger e on ddl_command_start execute function pg_catalog.suppress_redundant_updates_trigger()',
    DENIED,
    '42P17',
  ],
  ['create language plperl', UNKNOWN, NOT_FOUND, DENIED, NOT_SERVED],
  ['create foreign data wrapper w', DENIED],
  ["create subscription s connection 'host=127.0.0.1' publication p", DENIED],
  ['create publication p for all tables', DENIED],
  ['create cast (int as point) without function', DENIED, '42P17'],
  ['alter function pg_catalog.now() owner to current_user', DENIED],
  ['alter function pg_catalog.now() security definer', DENIED],
  [
    'create or replace function pg_catalog.now() returns timestamptz language sql as $$ select null::timestamptz $$',
    DENIED,
  ],
  ['create access method m type index handler bthandler', DENIED],
  ['create text search template t (lexize = dsimple_lexize)', DENIED],
]
const DATABASE: readonly Probe[] = [
  ['create database other', DENIED],
  ['drop database notes_of_probes', DENIED, '55006'],
  ['alter database notes_of_probes connection limit -1', DENIED],
  ['alter database notes_of_probes owner to current_user', DENIED],
  ["alter database notes_of_probes set session_preload_libraries = 'x'", DENIED],
  ['alter database template1 allow_connections true', DENIED],
  [
    `do $$ begin
      grant connect on database postgres to public;
      if not has_database_privilege('postgres', 'connect') then
        raise insufficient_privilege;
      end if;
    end $$`,
    DENIED,
  ],
]
const EXTENSIONS: readonly Probe[] = [
  ...[
    'dblink',
    'postgres_fdw',
    'file_fdw',
    'adminpack',
    'plperl',
    'plperlu',
    'plpython3u',
    'pltcl',
    'pageinspect',
    'pg_surgery',
    'xml2',
    'earthdistance',
  ].map((name): Probe => [`create extension ${name} cascade`, NOT_SERVED]),
  ['create extension pg_stat_statements', DENIED],
  ['create extension amcheck', DENIED],
  ['drop extension plpgsql', DENIED],
  ['alter extension plpgsql set schema public', DENIED, NOT_SERVED],
]
/** As a role that reads: the owner may do these. */
const WRITES: readonly Probe[] = [
  ['insert into kept values (2)', DENIED],
  ['update kept set id = 2', DENIED],
  ['delete from kept', DENIED],
  ['truncate kept', DENIED],
  ['drop table kept', DENIED],
  ['alter table kept add column x int', DENIED],
  ['begin; lock table kept in exclusive mode', DENIED],
  ['create table mine (id int)', DENIED],
  ['create temporary table mine (id int)', DENIED],
  ['create schema mine', DENIED],
  ['create function public.f() returns int language sql as $$ select 1 $$', DENIED],
  ['create extension vector', DENIED],
  ['select nextval($$numbers$$)', DENIED],
  ['select setval($$numbers$$, 1)', DENIED],
  ['comment on table kept is $$mine$$', DENIED],
  ['create index on kept (id)', DENIED],
  ['refresh materialized view summed', DENIED],
  ["select lo_from_bytea(0, 'x')", DENIED],
  ['select lo_creat(-1)', DENIED],
  ['select lo_create(0)', DENIED],
  ["select lo_put(1, 0, 'x')", DENIED],
  ["select lowrite(0, 'x')", DENIED],
  ['select lo_truncate(0, 1)', DENIED],
  ['select lo_truncate64(0, 1)', DENIED],
  // Log that is kept in backups, without an end.
  ["select pg_logical_emit_message(false, 'x', repeat('x', 1000))", DENIED],
  ["select pg_logical_emit_message(true, 'x', 'x'::bytea)", DENIED],
]

/** Settings that a session may not begin with, and the codes of the refusal. */
const SETTINGS: readonly Probe[] = [
  ['role=postgres', DENIED],
  ['session_authorization=postgres', DENIED],
  ['session_preload_libraries=x', DENIED],
  ['local_preload_libraries=../../x', NO_FILE, DENIED],
  ['shared_preload_libraries=x', FIXED],
  ['is_superuser=on', FIXED],
  ['fsync=off', FIXED],
  ['config_file=/etc/passwd', FIXED],
  ['temp_file_limit=-1', DENIED],
  ['log_statement=all', DENIED],
  ['dynamic_library_path=/tmp', DENIED],
  // Logins would outlast the patience of the proxy, and keep their places.
  ['post_auth_delay=1', DENIED],
]

const NAME = 'notes_of_probes'
let owner: URL
let reader: URL
before(async () => {
  const ergon = sharedErgon()
  owner = await makeDatabase(ergon, NAME)
  await withClient(owner, (client) =>
    client.query(`create table kept (id int); insert into kept values (1); create sequence numbers;
      create materialized view summed as select sum(id) from kept`),
  )
  reader = await makeReader('reading')
})

async function makeReader(role: string): Promise<URL> {
  const ergon = sharedErgon()
  const made = await ergon.cli('db', 'role', 'create', NAME, role, '--read-only')
  assert.equal(made.code, 0, made.stderr)
  const url = await urlOfRole(ergon, NAME, role)
  await until('the role is there', () =>
    withClient(
      url,
      async (client) => (await client.query('select from kept')).rowCount === 1,
    ).catch(() => false),
  )
  return url
}

/** Each probe in a transaction of its own, which is rolled back; resolves with those that were not refused so. */
async function notRefused(of: URL, probes: readonly Probe[]): Promise<string[]> {
  return await withClient(of, async (client) => {
    const found: string[] = []
    for (const [sql, ...codes] of probes) {
      const code = await client.query(sql).then(
        () => 'it succeeded',
        (error: { code?: string; message: string }) => error.code ?? error.message,
      )
      if (!codes.includes(code)) found.push(`${sql}: ${code}`)
      await client.query('rollback')
    }
    return found
  })
}

const ESCAPES = [...FILES, ...SERVER, ...ROLES, ...CODE, ...DATABASE, ...EXTENSIONS]

test(`no probe of ${ESCAPES.length} succeeds as the owner`, async () => {
  assert.deepEqual(await notRefused(owner, ESCAPES), [])
})

test(`no probe of ${ESCAPES.length + WRITES.length} succeeds as a role that reads`, async () => {
  const denied = ESCAPES.map(([sql, ...codes]): Probe => [sql, DENIED, ...codes])
  assert.deepEqual(await notRefused(reader, [...denied, ...WRITES]), [])
})

test('no session begins as another role or with a setting of the server', async () => {
  for (const url of [owner, reader])
    for (const [setting, ...codes] of SETTINGS)
      await assert.rejects(
        withClient(url, async () => undefined, { options: `-c ${setting}` }),
        ({ code = '' }: { code?: string }) => codes.includes(code),
        setting,
      )
  await withClient(reader, async (client) => {
    for (const role of [owner.username, 'postgres'])
      for (const sql of ['set role', 'set session authorization', 'grant pg_monitor to'])
        await assert.rejects(client.query(`${sql} "${role}"`), { code: DENIED }, sql)
  })
})

test('the service runs no code of the customer while it works in the database as superuser', async () => {
  await withClient(owner, async (client) => {
    // Functions and operators that fit the arguments better than those of PostgreSQL do, in each schema that a
    // search path of the superuser could name.
    await client.query('create table public.caught (who text); grant insert on caught to public')
    await client.query('create schema postgres')
    for (const schema of ['public', 'postgres']) {
      const catches = (name: string, parameters: string, result: string, value: string) =>
        client.query(`create function ${schema}.${name}(${parameters}) returns ${result}
          language plpgsql as $$ begin
            insert into public.caught values (current_user); return ${value}; end $$`)
      await catches('quote_ident', 'name', 'text', '$1::text')
      await catches('quote_ident', 'text', 'text', '$1')
      await catches('pg_terminate_backend', 'integer', 'boolean', 'true')
      for (const [left, right] of [
        ['oid', 'regrole'],
        ['name', 'name'],
        ['name', 'text'],
        ['oid', 'oid'],
      ]) {
        await catches('same', `${left}, ${right}`, 'boolean', 'true')
        await client.query(
          `create operator ${schema}.= (leftarg = ${left}, rightarg = ${right}, function = ${schema}.same)`,
        )
      }
    }
  })
  await makeReader('more')
  const ergon = sharedErgon()
  assert.equal((await ergon.cli('db', 'role', 'delete', NAME, 'more')).code, 0)
  await withClient(owner, async (client) => {
    await client.query('set search_path = pg_catalog')
    await until('the role is gone', async () => {
      const { rowCount } = await client.query("select from pg_roles where rolname like '%\\_more'")
      return rowCount === 0
    })
    const caught = await client.query("select from public.caught where who = 'postgres'")
    assert.equal(caught.rowCount, 0)
  })
})

test('a role that is made again has none of the passwords of the earlier one', async () => {
  const ergon = sharedErgon()
  const passwords: string[] = []
  for (let times = 0; times < 2; times++) {
    assert.equal((await ergon.cli('db', 'role', 'create', NAME, 'again')).code, 0)
    passwords.push((await urlOfRole(ergon, NAME, 'again')).password)
    assert.equal((await ergon.cli('db', 'role', 'rotate', NAME, 'again')).code, 0)
    passwords.push((await urlOfRole(ergon, NAME, 'again')).password)
    assert.equal((await ergon.cli('db', 'role', 'delete', NAME, 'again')).code, 0)
  }
  assert.equal(new Set(passwords).size, 4)
})
