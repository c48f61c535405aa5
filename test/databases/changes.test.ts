// Changes of a database while its owner is in the way: an open transaction that holds a lock, and a size that is used up.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { connectTo, endOf, makeDatabase, until, urlOfRole, withClient } from './driver.ts'

product(PLAIN)

const NAME = 'changing'
const WAITS = /open transaction/
let owner: URL

before(async () => {
  owner = await makeDatabase(sharedErgon(), NAME, '--size', '256MB')
})

const role = async (...words: string[]): Promise<void> => {
  const [verb = '', ...rest] = words
  const done = await sharedErgon().cli('db', 'role', verb, NAME, ...rest)
  assert.equal(done.code, 0, done.stderr)
}
const shown = async () =>
  JSON.parse((await sharedErgon().cli('db', 'show', NAME, '--json')).stdout) as {
    readonly full: boolean
    readonly reason: string | null
  }
const opens = (url: URL) =>
  withClient(url, async () => true).catch((error: { code?: string }) => {
    // Its role is not there yet.
    assert.equal(error.code, '57P03')
    return false
  })

/** Makes a database of another account; resolves with its status once that is not the first one. */
async function ofOthers(): Promise<string> {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const ask = (path: string, given: RequestInit = {}) =>
    fetch(`${ergon.baseUrl}/v1/databases${path}`, { headers, ...given })
  const made = await ask('', { method: 'POST', body: JSON.stringify({ name: 'theirs' }) })
  assert.equal(made.status, 201, await made.text())
  let status = 'pending'
  await until('the other database is worked on', async () => {
    ;({ status } = (await (await ask('/theirs')).json()) as { status: string })
    return status !== 'pending' && status !== 'deploying'
  })
  await ask('/theirs', { method: 'DELETE' })
  return status
}

test('an open transaction of an owner holds up no other account; sessions of a deleted role end', async (t) => {
  await role('create', 'reports', '--read-only')
  await role('create', 'app')
  const reports = await urlOfRole(sharedErgon(), NAME, 'reports')
  const app = await urlOfRole(sharedErgon(), NAME, 'app')
  await until('the roles are there', async () => (await opens(reports)) && (await opens(app)))
  await until('nothing is to be done', async () => (await shown()).reason === null)
  const locker = await connectTo(owner)
  t.after(() => locker.end())
  await locker.query(
    `begin; alter default privileges grant select on tables to "${reports.username}"`,
  )
  const session = await connectTo(app)
  const ended = endOf(session)
  await role('delete', 'app')
  assert.equal((await ended).code, '57P01')
  await until('the reply says why', async () => WAITS.test((await shown()).reason ?? ''))
  assert.equal(await ofOthers(), 'deployed')
  assert.match((await shown()).reason ?? '', WAITS, 'the other one was made meanwhile')
  await locker.query('rollback')
  await role('delete', 'reports')
  await until('the change is made', async () => (await shown()).reason === null)
})

test('roles of a full database are made and removed', async () => {
  const fill = `insert into filler
    select n, repeat(md5(n::text), 40) from (select generate_series(1, 1000000) n) s`
  await withClient(owner, (client) =>
    client.query('create unlogged table filler (id bigint, body text)'),
  )
  await assert.rejects(
    withClient(owner, (client) => client.query(fill)),
    { code: '53100' },
  )
  // A fast writer is ended ahead of the limit; slower ones fill what is left.
  const drop = "insert into filler select n, repeat('x', 1300) from generate_series(1, 2000) n"
  await until('it is full', async () => {
    if ((await shown()).full) return true
    await withClient(owner, (client) => client.query(drop)).catch(() => undefined)
    return false
  })
  await role('create', 'late', '--read-only')
  const late = await urlOfRole(sharedErgon(), NAME, 'late')
  await until('the role is there', () => opens(late))
  await until('nothing is to be done', async () => (await shown()).reason === null)
  await role('delete', 'late')
  await until('the change is made', async () => (await shown()).reason === null)
  const { rowCount } = await withClient(owner, (client) =>
    client.query("select from pg_roles where rolname like '%\\_late'"),
  )
  assert.deepEqual([rowCount, (await shown()).full], [0, true])
})
