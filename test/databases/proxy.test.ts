// Two database proxies on one port, as clients meet them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect as connectTcp, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type pg from 'pg'
import { readPair, type Pair } from '#node/certificate-pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import { cancelMessage } from '#wire/messages.ts'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { connectTo, endOf, makeDatabase, until, urlOfRole } from './driver.ts'

const CLI = join(import.meta.dirname, '../../src/cli/ergon.mjs')

const IDLE_S = 1

let ergon: Ergon
let url: URL
before(async () => {
  ergon = await startErgon({ env: { ERGON_PG_PROXIES: '2', ERGON_DB_IDLE_SECONDS: `${IDLE_S}` } })
  url = await makeDatabase(ergon, 'shared')
})
after(() => ergon?.stop())

const keyOf = (client: pg.Client): Buffer => {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const key = Buffer.alloc(8)
  key.writeInt32BE(processID, 0)
  key.writeInt32BE(secretKey, 4)
  return key
}
const proxyOf = (client: pg.Client): number => keyOf(client)[0] ?? 0

/** A session at each proxy. */
async function oneAtEach(): Promise<readonly [pg.Client, pg.Client]> {
  const found = new Map<number, pg.Client>()
  await until('both proxies have a session', async () => {
    const client = await connectTo(url)
    const number = proxyOf(client)
    if (found.has(number)) await client.end()
    else found.set(number, client)
    return found.size === 2
  })
  const [one, two] = [found.get(1), found.get(2)]
  assert.ok(one && two)
  return [one, two]
}

test('a cancel request ends the query of its session, whichever proxy it reaches', async () => {
  const clients = await oneAtEach()
  for (const client of clients) {
    const cancelled = assert.rejects(client.query('select pg_sleep(60)'), { code: '57014' })
    let isCancelled = false
    void cancelled.then(() => (isCancelled = true))
    // The kernel chooses the proxy of each connection.
    await until('it is cancelled', () => {
      if (!isCancelled) connectTcp(Number(url.port), url.hostname).end(cancelMessage(keyOf(client)))
      return isCancelled
    })
    await cancelled
  }
  await Promise.all(clients.map((client) => client.end()))
})

test('a server with a session stays beyond the idle time: in a long query, in a transaction, and at rest', async () => {
  const sleeps = await connectTo(url)
  const inTransaction = await connectTo(url)
  const rests = await connectTo(url)
  const startOf = async (client: pg.Client) =>
    (await client.query<{ at: Date }>('select pg_postmaster_start_time() as at')).rows[0]?.at
  const started = await startOf(rests)
  await inTransaction.query('begin')
  await inTransaction.query('create table kept_open (id int)')
  await sleeps.query(`select pg_sleep(${3 * IDLE_S})`)
  assert.deepEqual(await startOf(sleeps), started)
  await inTransaction.query('commit')
  assert.deepEqual(await startOf(rests), started)
  await rests.query('drop table kept_open')
  await Promise.all([sleeps, inTransaction, rests].map((client) => client.end()))
})

test('the most sessions of a database are those of both proxies together', async () => {
  const open = () => connectTo(url).catch((error: { code?: string }) => error.code)
  const outcomes = await Promise.all(Array.from({ length: SESSIONS_MAX + 5 }, open))
  const clients = outcomes.filter((outcome) => typeof outcome === 'object')
  assert.equal(clients.length, SESSIONS_MAX)
  assert.equal(new Set(clients.map(proxyOf)).size, 2)
  assert.deepEqual(
    new Set(outcomes.filter((outcome) => typeof outcome !== 'object')),
    new Set(['53300']),
  )
  // The sessions of a proxy that dies are those of the other proxy.
  const one = clients.filter((client) => proxyOf(client) === 1)
  const ended = Promise.all(one.map(endOf))
  await ergon.killCell('pg-proxy-1')
  await ended
  const again: pg.Client[] = []
  for (const _ of one)
    await until('there is room', async () => {
      const client = await connectTo(url).catch(() => undefined)
      if (client !== undefined) again.push(client)
      return client !== undefined
    })
  await assert.rejects(connectTo(url), { code: '53300' })
  const rest = clients.filter((client) => proxyOf(client) === 2)
  await Promise.all([...again, ...rest].map((client) => client.end()))
})

test('the CPU of both proxies is charged to the account of the database when its sessions have ended', async () => {
  const clients = await oneAtEach()
  for (const client of clients) for (let n = 0; n < 200; n++) await client.query('select 1')
  await Promise.all(clients.map((client) => client.end()))
  await until('both are charged', async () => (await proxyCharges()).length === 2)
  for (const { energy_nj: energy } of await proxyCharges()) assert.ok(BigInt(energy) > 0n)
  assert.deepEqual(await bookFaults(ergon), [])
})

/** The charges of sessions, by proxy. */
const proxyCharges = () =>
  ergon.sql<{ proxy: string; energy_nj: string }>(
    `select split_part(session, '.', 1) as proxy, sum(energy_nj) as energy_nj from charges
     where operation = 'database.session' and account = $1
     and convert_from(bytes, 'UTF8')::json ->> 'resource' = $2 group by 1`,
    [ergon.account, `database:db_${url.username.slice(2)}`],
  )

/** The socket of a client with another address. */
class OtherAddress extends Socket {
  override connect(...[port, host]: unknown[]): this {
    return super.connect({ port: Number(port), host: String(host), localAddress: '127.0.0.2' })
  }
}

test('wrong passwords shut out their address, and not the owner elsewhere', async () => {
  assert.equal((await ergon.cli('db', 'role', 'create', 'shared', 'guessed')).code, 0)
  const guessed = await urlOfRole(ergon, 'shared', 'guessed')
  guessed.hostname = '127.0.0.1'
  const right = (config = {}) => connectTo(guessed, config)
  await until('the role is there', () =>
    right().then(
      (client) => client.end().then(() => true),
      () => false,
    ),
  )
  const wrong = new URL(guessed)
  wrong.password = 'wrong'
  const codes = await Promise.all(
    Array.from({ length: 60 }, () => connectTo(wrong).catch(({ code }) => code as string)),
  )
  // On a busy machine the last ones are not through within the time of a login, and are closed without a code.
  const told = codes.filter((code) => code !== undefined)
  assert.ok(told.length >= 30, `${told.length} were refused`)
  assert.deepEqual(new Set(told), new Set(['28P01']))
  await assert.rejects(right(), { code: '53300', hint: /ergon db url/ })
  const owner = await right({ stream: () => new OtherAddress() })
  await owner.query('select 1')
  await owner.end()
})

const hasPsql = (process.env['PATH'] ?? '').split(':').some((one) => existsSync(join(one, 'psql')))

test('db psql beside the data folder takes the unix socket', { skip: !hasPsql }, async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [CLI, 'db', 'psql', 'shared', '--command', '\\conninfo'],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        ERGON_DATA: ergon.dataFolder,
        ERGON_TOKEN: ergon.token,
      },
      timeout: 30_000,
    },
  )
  const folder = /via socket in "([^"]+)"/.exec(stdout)?.[1]
  assert.ok(folder !== undefined, stdout)
  const wrong = new URL(url)
  wrong.password = 'wrong'
  await assert.rejects(connectTo(wrong, { host: folder, port: 5432, ssl: false }), {
    code: '28P01',
  })
  assert.equal(statSync(join(folder, '.s.PGSQL.5432')).mode & 0o007, 0)
})

test('an end with words reaches the sessions of both proxies', async () => {
  const ended = Promise.all((await oneAtEach()).map(endOf))
  assert.equal((await ergon.cli('db', 'suspend', 'shared')).code, 0)
  assert.deepEqual(
    (await ended).map(({ code }) => code),
    ['57P03', '57P03'],
  )
})

test('the certificate is checked by the file of db url --ca, and its fingerprint is shown', async () => {
  await ergon.cli('db', 'resume', 'shared')
  const file = join(ergon.dataFolder, 'ca.pem')
  const shown = await ergon.cli('db', 'url', 'shared', '--ca', file)
  const nowhere = await ergon.cli('db', 'url', 'shared', '--ca', '/none/ca.pem')
  assert.match(nowhere.stderr, /Could not write the certificate to .*\n  try: --ca/)
  const checked = new URL(shown.stdout.trim())
  assert.equal(checked.searchParams.get('sslmode'), 'verify-full')
  assert.equal(checked.searchParams.get('sslrootcert'), file)
  const ca = readFileSync(file, 'utf8')
  const { fingerprint256 } = new X509Certificate(ca)
  assert.ok(shown.stderr.includes(`certificate SHA-256 ${fingerprint256}`), shown.stderr)
  const servername = checked.hostname
  await until('it is awake', () =>
    connectTo(url, { ssl: { ca, servername } }).then(
      (client) => client.end().then(() => true),
      (error: { code?: string }) => {
        assert.equal(error.code, '57P03')
        return false
      },
    ),
  )
  await assert.rejects(connectTo(url, { ssl: { servername } }), /self-signed/)
})

test('own files are served, taken up when they change, and kept while a new pair does not fit', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-own-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const makePair = async (name: string) =>
    readPair(await selfSigned(join(folder, name), 'localhost'))
  const [first, second] = [await makePair('1'), await makePair('2')]
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const put = (pair: Pair) => {
    writeFileSync(key, pair.key, { mode: 0o600 })
    writeFileSync(cert, pair.cert)
  }
  const isServed = async ({ cert: ca }: Pair) =>
    await connectTo(url, { ssl: { ca } }).then(
      (client) => client.end().then(() => true),
      () => false,
    )
  put(first)
  await ergon.restart({ ERGON_DB_TLS_CERT: cert, ERGON_DB_TLS_KEY: key })
  await until('the first is served', () => isServed(first))
  const open = await connectTo(url, { ssl: { ca: first.cert } })
  put({ cert: second.cert, key: first.key })
  await until('an alarm says so', async () => {
    const rows = await ergon.sql("select from alarms where kind = 'database_certificate_refused'")
    return rows.length > 0
  })
  assert.ok(await isServed(first))
  put(second)
  // Twice: both proxies answer on the port.
  await until('the second is served', async () => (await isServed(second)) && isServed(second))
  await open.query('select 1')
  await open.end()
  const { stderr } = await ergon.cli('db', 'url', 'shared')
  assert.ok(stderr.includes(new X509Certificate(second.cert).fingerprint256))
  assert.match((await ergon.cli('db', 'url', 'shared', '--ca', cert)).stderr, /not self-signed/)
})
