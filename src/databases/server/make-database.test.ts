// The database and its roles in a real server.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  cachedInstall,
  quiet,
  startTestServer,
  whyNoServer,
  type TestServer,
} from '#postgres/testing.ts'
import { connectState, type State } from '#state/connect.ts'
import { HOST_RULES } from './make-cluster.ts'
import { makeDatabase } from './make-database.ts'
import { ownerAddress } from './superuser.ts'

const skip = whyNoServer()
const NAME = 'notes'
const OWNER = 'u_1'
const READER = 'u_1_reader'

let server: TestServer
before(async () => {
  if (skip === false) server = await startTestServer(await cachedInstall())
})
after(async () => await server?.[Symbol.asyncDispose]())

const connect = (database: string, role?: string): State =>
  connectState({
    address: {
      ...(role === undefined
        ? { host: server.socketFolder, database, ...server.superuser }
        : ownerAddress(server.socketFolder, role, database)),
    },
    connections: 1,
    log: quiet,
  })
const make = (readers: readonly string[] = []) =>
  makeDatabase(connect, { name: NAME, owner: OWNER, readers, wantsUpgrade: false })

/** Runs statements as a role; the SQLSTATE of the first that fails. */
async function as(role: string, ...statements: readonly string[]): Promise<string> {
  await using database = connect(NAME)
  return await database.session(async (session) => {
    try {
      await session.query(`set session authorization ${role}`)
      for (const text of statements) await session.query(text)
      return '00000'
    } catch (error) {
      return (error as { code: string }).code
    }
  })
}

test('a database is made once, and its owner does all in it but drop it', { skip }, async () => {
  await make()
  await make()
  assert.equal(await as(OWNER, 'create table before (n int)', 'create schema other'), '00000')
  assert.equal(await as(OWNER, `select lo_create(7)`, 'select lo_unlink(7)'), '00000')
  assert.equal(await as(OWNER, `alter database ${NAME} connection limit 1`), '42501')
  assert.equal(await as(OWNER, 'drop schema public cascade'), '00000')
  // The owner's choice stays.
  await make()
  assert.equal(await as(OWNER, 'create table public.after (n int)'), '3F000')
  await using postgres = connect('postgres')
  const { rows } = await postgres.query<{ may: boolean }>(
    `select has_database_privilege('${OWNER}', 'postgres', 'connect') as may`,
  )
  assert.equal(rows[0]?.may, false)
})

test('a reader reads what there is and what comes, and writes nothing', { skip }, async () => {
  await make()
  assert.equal(await as(OWNER, 'create table other.before (n int)'), '00000')
  await make([READER])
  assert.equal(await as(OWNER, 'create schema later', 'create table later.after (n int)'), '00000')
  assert.equal(await as(READER, 'select from other.before', 'select from later.after'), '00000')
  for (const text of [
    'insert into other.before values (1)',
    'create table other.mine (n int)',
    'create temporary table mine (n int)',
    'select lo_create(8)',
    "select pg_logical_emit_message(false, 'x', 'x')",
  ])
    assert.equal(await as(READER, text), '42501', text)
})

test(
  'a role that is not wanted any more goes, and its objects stay with the owner',
  { skip },
  async () => {
    await make([READER])
    assert.equal(await as(OWNER, `grant create on schema other to ${READER}`), '00000')
    assert.equal(await as(READER, 'create table other.left_to (n int)'), '00000')
    await make()
    assert.equal(
      await as(OWNER, 'insert into other.left_to values (1)', 'drop table other.left_to'),
      '00000',
    )
    assert.equal(await as(READER), '22023')
  },
)

test(
  'upgraded extensions are the work of a session of the owner, which cannot become the superuser',
  { skip },
  async () => {
    const old = "create extension hstore version '1.4'"
    await make()
    assert.equal(await as(OWNER, 'create schema if not exists own', `${old} schema own`), '00000')
    await using postgres = connect('postgres')
    writeFileSync(join(server.folder, 'data', 'pg_hba.conf'), HOST_RULES)
    await postgres.query('select pg_reload_conf()')
    await using database = connect(NAME)
    // Code that runs in the session amid the update.
    await database.query(`create function own.seen() returns event_trigger language plpgsql as $$ begin
      insert into own.seen values (session_user); end $$`)
    await database.query('create table own.seen (session text)')
    await database.query(`grant insert on own.seen to ${OWNER}`)
    await database.query(
      "create event trigger seen on ddl_command_end when tag in ('ALTER EXTENSION') execute function own.seen()",
    )
    const roles = { owner: OWNER, readers: [], wantsUpgrade: true }
    await makeDatabase(connect, { ...roles, name: NAME })
    const { rows } = await database.query<{ session: string }>('select session from own.seen')
    assert.deepEqual(
      rows.map(({ session }) => session),
      [OWNER],
    )
    const { rowCount } = await database.query(
      "select from pg_extension where extname = 'hstore' and extversion <> '1.4'",
    )
    assert.equal(rowCount, 1)
  },
)

test('a name that needs quotes is a fault of ours', { skip }, async () => {
  const roles = { owner: OWNER, readers: [], wantsUpgrade: false }
  await assert.rejects(makeDatabase(connect, { ...roles, name: 'a"b' }), /needs no escape/)
  await assert.rejects(
    makeDatabase(connect, { ...roles, name: NAME, readers: ['a"b'] }),
    /needs no escape/,
  )
})
