// The order of the parts of a start, with a cell that runs nothing.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Secret } from '#base/log.ts'
import { quiet } from '#postgres/testing.ts'
import { NotWanted } from '#resources/instances.ts'
import { createServers, type ServersDeps } from './servers.ts'

/** Servers on a folder with the files of one database, whose cell is the test's. */
function open(t: TestContext, given: { readonly cell: object; readonly steps?: string[] }) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-servers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'db_1', 'data'), { recursive: true })
  writeFileSync(join(folder, 'db_1', 'data', 'PG_VERSION'), '16')
  const { steps = [] } = given
  const cell = { socket: join(folder, 'run', '.s.PGSQL.5432'), ...given.cell }
  const deps = {
    cells: { start: async () => cell },
    state: {
      async query() {
        steps.push('its life is recorded')
        return { rows: [], rowCount: 1 }
      },
    },
    log: quiet,
    install: async () => ({ libFolder: folder, binFolder: folder }),
    folder,
    runFolder: folder,
    superuserPassword: new Secret('secret'),
    idleMs: 1000,
    proxies: 1,
    admit: async () => undefined,
    demandNewest: async () => undefined,
    beside: async () => undefined,
    changed: (_: unknown, isRunning: boolean) =>
      void steps.push(isRunning ? 'others hear of it' : 'others hear of its end'),
    failing: async () => undefined,
  }
  const servers = createServers(deps as unknown as ServersDeps)
  t.after(() => servers.close())
  return { servers, socket: cell.socket, folder }
}

const DATABASE = { id: 'db_1', account: 'acct_a', name: 'notes' }

test('nobody follows the log of a server before its life is recorded', async (t) => {
  const steps: string[] = []
  const cell = {
    ready: async () => void steps.push('it answers'),
    stop: async () => void steps.push('it ends'),
  }
  const { servers } = open(t, { cell, steps })
  await servers.alone(DATABASE, async () => void steps.push('work'))
  assert.deepEqual(steps, [
    'it answers',
    'its life is recorded',
    'others hear of it',
    'work',
    'others hear of its end',
    'it ends',
  ])
})

test('no server starts for a client that left while the files were at rest', async (t) => {
  const steps: string[] = []
  const cell = {
    ready: async () => void steps.push('it answers'),
    stop: async () => void steps.push('it ends'),
  }
  const { servers } = open(t, { cell, steps })
  const resting = Promise.withResolvers<never>()
  const removing = servers.remove(DATABASE.id, () => resting.promise)
  const leaving = new AbortController()
  const left = servers.use(DATABASE, { cause: 'connection' }, leaving.signal)
  leaving.abort(new Error('the client is gone'))
  await assert.rejects(left, /the client is gone/)
  // The files stay.
  resting.reject(new Error('the store is away'))
  await assert.rejects(removing, /the store is away/)
  // A start would have been registered in the turn behind the work.
  await pause(50)
  await servers.stop(DATABASE.id, 'suspended')
  assert.deepEqual(steps, [])
})

test('a server whose start outlives its only client ends by itself', async (t) => {
  const asked = Promise.withResolvers<void>()
  const answers = Promise.withResolvers<void>()
  let stops = 0
  const cell = {
    async ready() {
      asked.resolve()
      await answers.promise
    },
    stop: async () => void stops++,
  }
  const { servers } = open(t, { cell })
  const leaving = new AbortController()
  const left = servers.use(DATABASE, { cause: 'connection' }, leaving.signal)
  await asked.promise
  leaving.abort(new Error('the client is gone'))
  await assert.rejects(left, /the client is gone/)
  answers.resolve()
  for (let nth = 0; stops === 0; nth++) {
    assert.ok(nth < 500, 'it ends behind its idle time')
    await pause(10)
  }
})

test('a start goes on where its client is gone, and the next client uses the same server', async (t) => {
  const asked = Promise.withResolvers<void>()
  const answers = Promise.withResolvers<void>()
  let stops = 0
  const cell = {
    async ready(signal: AbortSignal) {
      asked.resolve()
      const ended = once(signal, 'abort').then(() => signal.throwIfAborted())
      await Promise.race([answers.promise, ended])
    },
    stop: async () => void stops++,
  }
  const { servers, socket } = open(t, { cell })
  const waker = { cause: 'connection' } as const
  const leaving = new AbortController()
  const left = servers.use(DATABASE, waker, leaving.signal)
  await asked.promise
  leaving.abort(new Error('the client is gone'))
  await assert.rejects(left, /the client is gone/)
  const next = servers.use(DATABASE, waker, t.signal)
  answers.resolve()
  const { socketPath, release } = await next
  assert.deepEqual([socketPath, stops], [socket, 0])
  release()
  await servers.stop(DATABASE.id, 'suspended')
  assert.equal(stops, 1)
})

test('nobody starts restored files before their recovery is done', async (t) => {
  const steps: string[] = []
  const cell = {
    ready: async () => void steps.push('it answers'),
    stop: async () => void steps.push('it ends'),
  }
  const { servers, folder } = open(t, { cell, steps })
  writeFileSync(join(folder, 'db_1', 'recovering'), '')
  const work = () => assert.fail('the server runs')
  await assert.rejects(servers.alone(DATABASE, work), NotWanted)
  await assert.rejects(servers.use(DATABASE, { cause: 'connection' }, t.signal), NotWanted)
  assert.ok(!steps.includes('it answers'), 'a server started')
})
