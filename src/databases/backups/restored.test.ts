// The check of restored tables in a real server: no code of their owner has the rights of the superuser there.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  cachedInstall,
  quiet,
  startTestServer,
  whyNoServer,
  type TestServer,
} from '#postgres/testing.ts'
import { makeDatabase } from '#databases/server/make-database.ts'
import { connectState, type State } from '#state/connect.ts'
import { BackupFault } from './plan.ts'
import { readTables } from './restored.ts'

const skip = whyNoServer()
const NAME = 'notes'
const OWNER = 'u_1'
/** In the first row of the first page. */
const DAMAGED_BYTE = 8192 - 4

/** An index whose predicate has a function that calls another one, which waits for a superuser. */
const TRAP = [
  'create table public.t (x int)',
  'insert into public.t select generate_series(1, 100)',
  `create function public.g() returns int language plpgsql as $$ begin
     if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
       alter role ${OWNER} superuser;
     end if;
     return 1; end $$`,
  `create function public.f(int) returns int immutable language plpgsql as $$ begin
     return public.g(); end $$`,
  'create index on public.t (x) where public.f(1) > 0',
  'create index on public.t ((public.f(x)))',
  'create materialized view public.m as select x from public.t',
  'create index on public.m (x) where public.f(1) > 0',
]

let server: TestServer
before(async () => {
  if (skip !== false) return
  server = await startTestServer(await cachedInstall())
  await makeDatabase(connect, { name: NAME, owner: OWNER, readers: [], wantsUpgrade: false })
  await using database = connect(NAME)
  await database.session(async (session) => {
    await session.query(`set session authorization ${OWNER}`)
    for (const text of TRAP) await session.query(text)
    await session.query('reset session authorization')
  })
})
after(async () => await server?.[Symbol.asyncDispose]())

const connect = (database: string): State =>
  connectState({
    address: { host: server.socketFolder, database, ...server.superuser },
    connections: 1,
    log: quiet,
  })

const isSuperuser = async (): Promise<boolean | undefined> => {
  await using database = connect('postgres')
  const { rows } = await database.query<{ is: boolean }>(
    'select rolsuper as is from pg_roles where rolname = $1',
    [OWNER],
  )
  return rows[0]?.is
}

test(
  'readTables() runs no function of an index as the superuser, and finds a damaged page',
  { skip },
  async () => {
    const path = await (async () => {
      await using database = connect(NAME)
      await readTables(connect, NAME)
      assert.equal(await isSuperuser(), false)
      const { rows } = await database.query<{ path: string }>(
        "select pg_relation_filepath('public.t') as path",
      )
      return rows[0]?.path ?? ''
    })()
    await server.stop()
    const file = join(server.folder, 'data', path)
    const bytes = readFileSync(file)
    bytes[DAMAGED_BYTE] = (bytes[DAMAGED_BYTE] ?? 0) ^ 1
    writeFileSync(file, bytes)
    server.restart()
    await server.ready()
    await assert.rejects(readTables(connect, NAME), (error) => {
      assert.ok(error instanceof BackupFault)
      assert.match(error.message, /^a table cannot be read: invalid page/)
      return true
    })
    assert.equal(await isSuperuser(), false)
  },
)
