// The agent's socket with the clients that ask there: on a real unix socket, without servers of databases.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { FatalError } from '#wire/messages.ts'
import { quiet } from '#postgres/testing.ts'
import { NotWanted } from '#resources/instances.ts'
import type { State } from '#state/connect.ts'
import { askAgent, followAgent } from '#node/agent-socket/ask-agent.ts'
import { BACKUPS_PATH, keepAwake, NotAwake, RUNNING_PATH } from './awake.ts'
import { createAwakeServer } from './awake-server.ts'
import { UNPAID } from './energy-words.ts'
import type { RunningLine } from './running.ts'

const ID = 'db_1'
const FULL: FatalError = { code: '53100', message: 'full', hint: 'grow' }
const SPENT: FatalError = { code: '53400', message: 'spent', hint: 'raise' }
const { signal } = new AbortController()

/** A server with one database, whose row and start the test changes. */
async function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-awake-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const row = { id: ID, account: 'a', name: 'notes', isSuspended: false }
  const world = {
    row: { ...row, isWanted: true, held: null } as Record<string, unknown> | undefined,
    logins: ['u_1'],
    users: 0,
    released: 0,
    refusal: undefined as Error | undefined,
    /** Done while a server starts, and while logins are read. */
    onStart: async () => undefined as unknown,
    onLogins: async () => undefined as unknown,
  }
  const state = {
    async query(text: string) {
      if (text.includes('resources'))
        return { rows: world.row === undefined ? [] : [world.row], rowCount: 1 }
      const { logins } = world
      await world.onLogins()
      return { rows: [{ logins }], rowCount: 1 }
    },
  } as unknown as State
  const server = createAwakeServer({ proxies: 2, state, log: quiet })
  const agent = { socketPath: join(folder, 'awake.sock'), secret: 'secret' }
  const listen = () =>
    server.listen(agent, {
      // Says nothing.
      certificate: { follow: () => undefined },
      servers: {
        async use() {
          if (world.refusal !== undefined) throw world.refusal
          await world.onStart()
          world.users++
          const release = () => {
            world.users--
            world.released++
          }
          return { socketPath: '/db/.s.PGSQL.5432', release }
        },
      },
    })
  t.after(() => server.close())
  return { server, agent, world, listen }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let nth = 0; !holds(); nth++) {
    assert.ok(nth < 500, what)
    await pause(10)
  }
}

const refused = (promise: Promise<unknown>): Promise<FatalError> =>
  promise.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => (error instanceof NotAwake ? error.fatal : assert.fail(String(error))),
  )

test('a server runs while a proxy or a backup asks for it, and no longer', async (t) => {
  const { agent, world, listen, server } = await open(t)
  await listen()
  const one = await keepAwake(agent, ID, signal)
  const backup = await keepAwake(agent, `${BACKUPS_PATH.slice(1)}${ID}`, signal)
  assert.deepEqual([one.socketPath, one.logins, world.users], ['/db/.s.PGSQL.5432', ['u_1'], 2])
  assert.ok(one.sessions > 0)
  assert.equal(backup.sessions, 0)
  const told = Promise.withResolvers<void>()
  one.onLogins = told.resolve
  server.keep(ID, [])
  await told.promise
  assert.deepEqual(one.logins, [])
  one.release()
  await until('one is released', () => world.users === 1)
  server.cut(ID, FULL, [7])
  server.cut(ID, SPENT)
  assert.deepEqual(await backup.ended, SPENT)
  await until('both are released', () => world.users === 0)
})

test('words of the agent before anybody asked are known to the first who asks', async (t) => {
  const { agent, listen, server } = await open(t)
  server.warnings.set(ID, 'budget', SPENT)
  server.warnings.set(ID, 'size', FULL)
  server.refuse('db_2', SPENT)
  server.running.tell('db_3', true)
  await listen()
  const one = await keepAwake(agent, ID, signal)
  assert.deepEqual(one.warning, FULL)
  server.warnings.set(ID, 'size', undefined)
  await until('the other warning is told', () => one.warning?.code === SPENT.code)
  assert.deepEqual(await refused(keepAwake(agent, 'db_2', signal)), SPENT)
  one.release()
})

test('no server stays in use for a client that is refused, or that left while the server started', async (t) => {
  const { agent, world, listen, server } = await open(t)
  await listen()
  server.refuse(ID, SPENT)
  assert.deepEqual(await refused(keepAwake(agent, ID, signal)), SPENT)
  assert.equal(world.released, 1)
  server.refuse(ID, undefined)
  const starting = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  world.onStart = () => {
    starting.resolve()
    return started.promise
  }
  const leaving = new AbortController()
  const left = keepAwake(agent, ID, leaving.signal)
  await starting.promise
  leaving.abort(new Error('the client is gone'))
  await assert.rejects(left, /the client is gone/)
  // Longer than the end of a request takes to arrive.
  await pause(100)
  started.resolve()
  await until('the use of the client that left ends', () => world.released === 2)
})

test('the logins of the first answer are those of its moment, however long the server starts', async (t) => {
  const { agent, world, listen, server } = await open(t)
  await listen()
  world.onStart = async () => void (world.logins = ['u_1', 'u_1_app'])
  const one = await keepAwake(agent, ID, signal)
  assert.deepEqual(one.logins, ['u_1', 'u_1_app'])
  // A deployment ends while they are read for another proxy.
  world.onLogins = async () => server.keep(ID, ['u_1'])
  const other = await keepAwake(agent, ID, signal)
  assert.deepEqual(other.logins, ['u_1'])
  await until('the first proxy hears of it', () => one.logins.length === 1)
  one.release()
  other.release()
})

test('a database that cannot run says why, also where its owner changes their mind meanwhile', async (t) => {
  const { agent, world, listen } = await open(t)
  await listen()
  const words = async () => (await refused(keepAwake(agent, ID, signal))).message
  const { row } = world
  world.row = { ...row, isWanted: false, isSuspended: true }
  assert.deepEqual(await refused(keepAwake(agent, ID, signal)), {
    code: '57P03',
    message: 'the database is suspended',
    hint: 'Wake it up: ergon db resume notes',
  })
  for (const [held, message] of [
    ['balance', UNPAID.message],
    ['deleting', 'the account of this database is being deleted'],
  ]) {
    world.row = { ...row, isWanted: false, isSuspended: true, held }
    assert.equal(await words(), message)
  }
  world.row = { ...row, isWanted: false }
  assert.equal(await words(), 'the database system is starting up')
  world.row = undefined
  assert.equal(await words(), 'the database system is starting up')
  world.row = row
  world.refusal = new NotWanted('it is not wanted')
  assert.equal(await words(), 'the database system is starting up')
  // The row changes between the answer's two looks at it.
  let looks = 0
  Object.defineProperty(world, 'row', { get: () => ({ ...row, isSuspended: looks++ > 0 }) })
  assert.equal(await words(), 'the database is suspended')
})

test('a stranger gets no answer, and an agent that is silent or away is given up', async (t) => {
  const { agent, listen } = await open(t)
  assert.equal((await refused(keepAwake(agent, ID, signal))).code, '57P03', 'nobody listens')
  await listen()
  const stranger = { ...agent, secret: 'guess' }
  assert.equal((await refused(keepAwake(stranger, ID, signal))).code, '57P03')
  const lines: unknown[] = []
  const question = { path: RUNNING_PATH, take: (line: unknown) => void lines.push(line) }
  const { ended } = askAgent(stranger, { ...question, firstLineMs: 1000 })
  assert.match((await ended).message, /the agent has ended the request/)
  assert.deepEqual(lines, [])
  const silent = askAgent(agent, { ...question, path: '/certificate', firstLineMs: 1 })
  assert.match((await silent.ended).message, /does not answer/)
})

test('the process of backups hears of 3,000 servers, and of each change', async (t) => {
  const { agent, listen, server } = await open(t)
  const ids = Array.from({ length: 3000 }, (_, n) => `db_01m89xar98ey5845tkg6v4${n}`)
  for (const id of ids) server.running.tell(id, true)
  await listen()
  const heard: RunningLine[][] = []
  const ending = new AbortController()
  const begin = () => {
    const lines: RunningLine[] = []
    heard.push(lines)
    return (line: unknown) => void lines.push(line as RunningLine)
  }
  const following = followAgent(
    agent,
    { path: RUNNING_PATH, begin },
    { log: quiet, signal: ending.signal },
  )
  await until('all are heard', () => heard[0]?.length === 3001)
  assert.deepEqual(heard[0], [...ids.map((id) => ({ started: id })), { areAll: true }])
  server.running.tell('db_2', true)
  server.running.tell('db_2', false)
  await until('the changes are heard', () => heard[0]?.length === 3003)
  assert.deepEqual(heard[0]?.slice(-2), [{ started: 'db_2' }, { ended: 'db_2' }])
  await server.close()
  await listen()
  await until('it asks again', () => heard[1]?.length === 3001)
  ending.abort()
  await following
})
