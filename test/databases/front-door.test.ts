// The endpoint of databases, as clients of every kind meet it: logins, protocol, TLS, sessions, cancel requests. Refusals are
// in error-table.test.ts.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import { STRANGERS_MAX } from '#databases/proxy/strangers.ts'
import { authentication, message, startupMessage, TYPE } from '#wire/messages.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { connectTo, makeDatabase, until, withClient as clientOf } from './driver.ts'
import { output, ownProgram, withoutTls } from './programs.ts'

product(PLAIN)

const CANCEL_REQUEST = 80_877_102

let url: URL
before(async () => {
  url = await makeDatabase(sharedErgon(), 'front-door')
})

const connect = (given?: Partial<pg.ClientConfig>) => connectTo(url, given)
const withClient = <T>(work: (client: pg.Client) => Promise<T>) => clientOf(url, work)

test('logins that fail are charged to nobody, and cost their database nothing', async () => {
  const { sql } = sharedErgon()
  const database = `database:db_${url.username.slice(2)}`
  const sessions = async () =>
    await sql(
      `select leaf_index from charges where operation = 'database.session'
       and convert_from(bytes, 'UTF8')::json ->> 'resource' = $1`,
      [database],
    )
  await withClient((client) => client.query('select 1'))
  await until('the session is charged', async () => (await sessions()).length > 0)
  const before = await sessions()
  const [last] = await sql<{ leaf: string }>('select max(leaf_index) as leaf from charges')
  // New ones alone: others may go into a bundle meanwhile. A charge of one request has no number of requests.
  const nobody = () =>
    sql<{ requests: string; nj: string }>(
      `select coalesce(sum(coalesce((convert_from(bytes, 'UTF8')::json ->> 'requests')::int, 1)), 0) as requests,
         coalesce(sum(energy_nj), 0) as nj from charges
       where account = 'nobody' and operation = 'service.nobody' and session like 'pg-proxy-%'
         and leaf_index > $1`,
      [last?.leaf],
    )
  for (let nth = 0; nth < 5; nth++)
    await assert.rejects(connect({ password: 'wrong' }), { code: '28P01' })
  await until('they are charged to nobody', async () => {
    const [now] = await nobody()
    return Number(now?.requests) >= 5 && BigInt(now?.nj ?? 0) > 0n
  })
  assert.deepEqual(await sessions(), before)
})

test('garbage is refused with an error of the protocol, or not answered', async () => {
  const answerTo = async (bytes: Buffer): Promise<Buffer> => {
    const socket = connectTcp(Number(url.port), url.hostname)
    socket.end(bytes)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  }
  const int32s = (...values: readonly number[]) => {
    const bytes = Buffer.alloc(values.length * 4)
    values.forEach((value, place) => bytes.writeInt32BE(value, place * 4))
    return bytes
  }
  assert.match(String(await answerTo(int32s(8, 196_608))), /C08P01\0Minvalid length/)
  assert.match(String(await answerTo(int32s(100_000, 196_608))), /C08P01\0/)
  assert.match(String(await answerTo(int32s(12, 131_072, 0))), /C0A000\0Munsupported frontend/)
  assert.match(String(await answerTo(int32s(12, 196_608, 0x61616161))), /layout/)
  const behindTls = Buffer.concat([int32s(8, 80_877_103), int32s(8, 196_608)])
  assert.match(String(await answerTo(behindTls)), /unencrypted bytes behind SSLRequest/)
  assert.equal(String(await answerTo(int32s(8, 80_877_104))), 'N')
  const options = Buffer.from('user\0x\0_pq_.new\0on\0\0')
  const newer = Buffer.concat([int32s(8 + options.length, 196_610), options])
  const told = (await answerTo(newer)).toString('latin1')
  assert.ok(
    told.startsWith(int32s(21, 196_608, 1).toString('latin1'), 1) && told.startsWith('v'),
    told,
  )
  assert.equal(
    String(await answerTo(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).includes('08P01'),
    true,
  )
  await withClient((client) => client.query('select 1'))
})

test('TLS may begin at once, with the ALPN of PostgreSQL', async () => {
  const greet = async (ALPNProtocols: string[]): Promise<string> => {
    const { hostname: host, port } = url
    const socket = connectTls({
      host,
      port: Number(port),
      ALPNProtocols,
      rejectUnauthorized: false,
    })
    await once(socket, 'secureConnect')
    const parameters = Buffer.from('user\0x\0\0')
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + parameters.length, 0)
    head.writeInt32BE(196_608, 4)
    socket.write(Buffer.concat([head, parameters]))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return answer.toString('latin1')
  }
  assert.match(await greet(['postgresql']), /SCRAM-SHA-256-PLUS/)
  assert.match(await greet([]), /direct TLS needs the ALPN protocol/)
})

test('neither md5 nor a password in clear is ever offered or taken', async () => {
  const login = startupMessage(new Map([['user', url.username]]))
  /** The answers to a startup message and to a password message. */
  const talk = async (password: Buffer): Promise<readonly [Buffer, string]> => {
    const socket = connectTcp(Number(url.port), url.hostname)
    socket.write(login)
    const [offer] = (await once(socket, 'data')) as [Buffer]
    socket.write(message(TYPE.password, password))
    const rest: Buffer[] = []
    for await (const chunk of socket) rest.push(chunk as Buffer)
    return [offer, Buffer.concat(rest).toString('latin1')]
  }
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const digest = md5(md5(url.password + url.username) + '\0\0\0\0')
  for (const password of [`md5${digest}\0`, `${url.password}\0`]) {
    const [offer, answer] = await talk(Buffer.from(password))
    // SASL with one mechanism, as there is no TLS.
    assert.deepEqual(offer, authentication(10, 'SCRAM-SHA-256', Buffer.from([0])))
    assert.match(answer, /^E.*SFATAL\0.*C(08P01|28P01)\0/s)
  }
  const psql = await ownProgram('psql')
  const asking = (method: string) =>
    output(psql, ['-XAtqc', 'select 1', `${withoutTls(url.href)}&require_auth=${method}`])
  assert.equal(await asking('scram-sha-256'), '1\n')
  await assert.rejects(asking('md5'), /requirement "md5" failed: server requested SASL/)
  // A role may give itself a password in its server, where nobody is asked for one.
  await withClient((client) =>
    client.query(`set password_encryption = 'md5'; alter role "${url.username}" password 'own'`),
  )
  await assert.rejects(connect({ password: 'own' }), { code: '28P01' })
  await withClient((client) => client.query('select 1'))
})

test('half-open connections keep nobody out', async () => {
  const open = () => connectTcp(Number(url.port), url.hostname).on('error', () => undefined)
  const strangers = Array.from({ length: STRANGERS_MAX + 100 }, open)
  await withClient((client) => client.query('select 1'))
  for (const socket of strangers) socket.destroy()
})

test('a session begins as new on the backend of an earlier one', async () => {
  const pids = new Set<number>()
  // A client that comes before a backend is reset gets another one.
  await until('a backend has a second client', () =>
    withClient(async (client) => {
      const { rows } = await client.query<{ pid: number; path: string; left: string }>(
        `select pg_backend_pid() as pid, current_setting('search_path') as path,
           (select count(*) from pg_prepared_statements)
           + (select count(*) from pg_class where relname = 'left_over') as left`,
      )
      const [{ pid, path, left } = { pid: 0, path: '', left: '' }] = rows
      assert.deepEqual([path, left], ['"$user", public', '0'])
      await client.query('set search_path = nowhere; create temp table left_over (id int)')
      await client.query('prepare left_over as select 1')
      const isSecond = pids.has(pid)
      pids.add(pid)
      return isSecond
    }),
  )
})

test('one session too many is refused, and there is room again when one ends', async () => {
  const clients: pg.Client[] = []
  // Sessions of the tests before end a moment after their clients have left.
  await until('every place is taken', async () => {
    const missing = Array.from({ length: SESSIONS_MAX - clients.length }, () => connect())
    for (const outcome of await Promise.allSettled(missing))
      if (outcome.status === 'fulfilled') clients.push(outcome.value)
    return clients.length === SESSIONS_MAX
  })
  await assert.rejects(connect(), { code: '53300' })
  await clients[0]?.end()
  await withClient((client) => client.query('select 1'))
  await Promise.all(clients.slice(1).map((client) => client.end()))
})

test('a cancel request ends the query of its own session', async () => {
  const client = await connect()
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const cancelled = assert.rejects(client.query('select pg_sleep(60)'), { code: '57014' })
  await pause(200)
  const bytes = Buffer.alloc(16)
  bytes.writeInt32BE(16, 0)
  bytes.writeInt32BE(CANCEL_REQUEST, 4)
  bytes.writeInt32BE(processID, 8)
  bytes.writeInt32BE(secretKey, 12)
  connectTcp(Number(url.port), url.hostname).end(bytes)
  await cancelled
  await client.query('select 1')
  await client.end()
})
