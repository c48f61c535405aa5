import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { UNPAID } from '#databases/agent-socket/energy-words.ts'
import { TRIED_AGAIN, UNPAID_WORDS } from '#contract/resources/passing-reasons.ts'
import type { Awake } from '#databases/agent-socket/awake.ts'
import { decoyVerifier } from '#databases/logins/scram.ts'
import { quiet } from '#postgres/testing.ts'
import { createBackends } from './backends.ts'
import type { Bill } from './bill.ts'
import { createCancels } from './cancels.ts'
import { createConversations } from './converse.ts'
import type { LoginRefusal } from './handshake.ts'
import { createUses } from './uses.ts'
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

const unused = () => assert.fail('a server is asked for')

test('a database whose change failed says so, and one that is being made says that', async (t) => {
  const { converse } = createConversations({
    backends: createBackends(),
    cancels: createCancels({ number: 1, proxies: [], log: quiet }),
    uses: createUses({ wake: unused, bill: unused }),
    log: quiet,
  })
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
    assert.match(error.fatal.hint ?? '', /ergon db show notes/)
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
  const uses = createUses({ wake, bill: async () => bill })
  const cancels = createCancels({ number: 1, proxies: [], log: quiet })
  const { converse } = createConversations({
    backends: createBackends(),
    cancels,
    uses,
    log: quiet,
  })
  for (let clients = 1; clients <= 3; clients++) {
    const { client, socket } = await clientSocket(t)
    const told = once(client, 'data')
    await converse(socket, role, { parameters: new Map(), payer: payer() })
    assert.match(String(await told), /C57P03\0/)
    assert.equal(asked, clients)
  }
})
