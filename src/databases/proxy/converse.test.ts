import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { UNPAID } from '#databases/agent-socket/energy-words.ts'
import { TRIED_AGAIN, UNPAID_WORDS } from '#contract/resources/passing-reasons.ts'
import type { Awake } from '#databases/agent-socket/awake.ts'
import { decoyVerifier } from '#databases/logins/scram.ts'
import { quiet } from '#postgres/testing.ts'
import { createBackends, type Backends } from './backends.ts'
import type { Bill } from './bill.ts'
import { createCancels } from './cancels.ts'
import { createConversations } from './converse.ts'
import type { LoginRefusal } from './handshake.ts'
import type { Use } from './used-database.ts'
import { createUses, type Uses } from './uses.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import type { FatalError } from '#wire/messages.ts'

const LOGIN = 'u_1'
const role = {
  name: LOGIN,
  serverRole: LOGIN,
  verifier: decoyVerifier(Buffer.alloc(32), LOGIN),
  database: 'db_1',
  account: 'acct_1',
  databaseName: 'notes',
  actual: 'deployed',
  wanted: 'deployed',
  held: null,
  reason: null,
}

const never = new Promise<FatalError>(() => undefined)
const bill: Bill = {
  mark: () => undefined,
  piece: () => undefined,
  addLogin: () => undefined,
  cut: never,
  end: async () => undefined,
}
/** The last words of the agent on a server that has gone since. */
const goneServer = (): Awake => ({
  socketPath: '/nonexistent/.s.PGSQL.5432',
  sessions: 4,
  warning: null,
  logins: [LOGIN],
  onLogins: () => undefined,
  onCut: () => undefined,
  onRecall: () => 0,
  more: async () => undefined,
  ended: never,
  release: () => undefined,
})

const conversationsOf = (uses: Uses, backends: Backends = createBackends()) =>
  createConversations({
    backends,
    cancels: createCancels({ number: 1, proxies: [], log: quiet }),
    uses,
    log: quiet,
  })

async function clientSocket(t: TestContext): Promise<{ client: Socket; socket: Socket }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  server.close()
  t.after(() => [client, socket].forEach((one) => one.destroy()))
  return { client, socket }
}

const payer = () => ({ cpuNs: 0, isServed: false })

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let nth = 0; !holds(); nth++) {
    assert.ok(nth < 500, what)
    await pause(10)
  }
}

const unused = () => assert.fail('a server is asked for')

test('a database whose change failed says so, and one that is being made says that', async (t) => {
  const { converse } = conversationsOf(createUses({ wake: unused, bill: unused }))
  const { socket } = await clientSocket(t)
  const refusedWith = (reason: string | null) =>
    converse(
      socket,
      { ...role, actual: 'suspended', reason },
      { parameters: new Map(), payer: payer() },
    )
  const [code, message] = ['57P03', 'the server of the database does not start']
  await assert.rejects(refusedWith(TRIED_AGAIN), (error: LoginRefusal) => {
    assert.deepEqual([error.fatal.code, error.fatal.message], [code, message])
    assert.match(
      error.fatal.hint ?? '',
      /ergon db show notes\. It starts by itself once that is mended/,
    )
    return true
  })
  const budget = `${UNPAID_WORDS.budget}: db_1`
  await assert.rejects(refusedWith(budget), (error: LoginRefusal) => {
    assert.equal(error.fatal.code, '53400')
    assert.match(error.fatal.message, /energy budget of this database is used up/)
    return true
  })
  await assert.rejects(refusedWith(UNPAID_WORDS.balance), { message: UNPAID.message })
  await assert.rejects(refusedWith(null), { message: 'the database is being made ready' })
})

test('a server that has gone is asked for anew by the next client, however soon it comes', async (t) => {
  let asked = 0
  const wake = async () => {
    asked++
    return goneServer()
  }
  const { converse } = conversationsOf(createUses({ wake, bill: async () => bill }))
  for (let clients = 1; clients <= 3; clients++) {
    const { client, socket } = await clientSocket(t)
    const told = once(client, 'data')
    await converse(socket, role, { parameters: new Map(), payer: payer() })
    assert.match(String(await told), /C57P03\0/)
    assert.equal(asked, clients)
  }
})

test('clients that leave while their server starts keep no place of those that come later', async (t) => {
  const started = Promise.withResolvers<Awake>()
  let billed = 0
  const { converse } = conversationsOf(
    createUses({
      wake: () => started.promise,
      bill: async () => ({ ...bill, addLogin: () => void billed++ }),
    }),
  )
  const leaving = async () => {
    const { client, socket } = await clientSocket(t)
    const talk = converse(socket, role, { parameters: new Map(), payer: payer() })
    let why = ''
    talk.catch((error: unknown) => (why = String(error)))
    client.destroy()
    await until('the session ends with its client', () => why !== '')
    assert.match(why, /the client has left/)
  }
  await Promise.all(Array.from({ length: SESSIONS_MAX }, leaving))
  const { client, socket } = await clientSocket(t)
  const told = once(client, 'data')
  const talk = converse(socket, role, { parameters: new Map(), payer: payer() })
  started.resolve(goneServer())
  await talk
  assert.match(String(await told), /C57P03\0Mthe database is being made ready/)
  assert.equal(billed, 1)
})

test('the backend of a client that leaves before its session is kept, and its server is released', async (t) => {
  const { client, socket } = await clientSocket(t)
  const { socket: server } = await clientSocket(t)
  const bytes = Buffer.alloc(8)
  const steps: string[] = []
  const backends: Backends = {
    ...createBackends(),
    async open() {
      const gone = once(socket, 'close')
      client.destroy()
      await gone
      return { socket: server, beganMs: 0, key: bytes, parameters: bytes, cancels: new Set() }
    },
    keep: async () => void steps.push('kept'),
  }
  const use: Use = {
    awake: goneServer(),
    bill,
    relays: new Map(),
    fatal: () => undefined,
    giveUp: () => undefined,
    release: () => void steps.push('released'),
  }
  const uses: Uses = { take: async () => use, close: async () => undefined }
  const { converse } = conversationsOf(uses, backends)
  void converse(socket, role, { parameters: new Map(), payer: payer() })
  await until('the session ends', () => steps.includes('released'))
  assert.deepEqual(steps, ['kept', 'released'])
})
