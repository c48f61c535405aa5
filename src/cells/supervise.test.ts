// A stop that fails: a further one tries again, and the cell is there until nothing is left of it.
import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import type { CellSpec, Exit, StartedLife } from './cell.ts'
import { superviseCell, type SupervisorDeps } from './supervise.ts'
import { echoSpec } from './testing/harness.ts'

const SPEC = echoSpec(
  { runFolder: '/nowhere', dataFolder: '/nowhere' },
  { ready: { probe: async () => undefined, timeoutMs: 5000 } },
)

/** A life without a process, which a kill ends. */
function lifeWithoutProcess(): StartedLife {
  const end = Promise.withResolvers<Omit<Exit, 'at' | 'stuck'>>()
  return {
    pid: undefined,
    stdout: Readable.from([]),
    stderr: Readable.from([]),
    exit: end.promise,
    kill: () => end.resolve({ code: null, signal: 'SIGKILL' }),
  }
}

const supervise = (
  more: {
    cleanUp: () => Promise<void>
    endLife?: () => void
    launch?: SupervisorDeps['launch']
  },
  spec: CellSpec = SPEC,
) => {
  const deps: SupervisorDeps = {
    // A path that is there: the probe of the test asks nobody.
    socket: import.meta.filename,
    launch: more.launch ?? lifeWithoutProcess,
    hasInit: false,
    observe: () => ({
      tree: {
        kill: () => undefined,
        isEmpty: () => true,
        freeze: async () => undefined,
        limitCpu: () => undefined,
        processes: () => [],
      },
      cpuNs: () => 0n,
      memoryKills: () => 0,
      endLife: more.endLife ?? (() => undefined),
    }),
    records: { write: () => undefined, remove: () => undefined },
    cleanUp: more.cleanUp,
    changed: () => undefined,
    relay: () => undefined,
    clock: systemClock,
    log: createLogger('cells', { write: () => undefined }),
  }
  return superviseCell(spec, deps)
}

test('a cell whose stop failed is stopping until a further stop has cleared it away', async () => {
  let tries = 0
  const cell = supervise({
    cleanUp: async () => {
      if (++tries === 1) throw new Error('busy')
    },
  })
  await cell.ready()
  const both = [cell.stop(), cell.stop()]
  for (const stop of both) await assert.rejects(stop, /busy/)
  assert.deepEqual([cell.state, tries], ['stopping', 1])
  await cell.stop()
  assert.deepEqual([cell.state, tries], ['stopped', 2])
  await cell.stop()
  assert.equal(tries, 2)
})

test('a cell whose life cannot be ended while it is stopped is stopping until it is cleared away', async () => {
  const states: string[] = []
  const cell = supervise({
    endLife: () => {
      throw new Error('busy')
    },
    cleanUp: async () => void states.push(cell.state),
  })
  await cell.ready()
  await cell.stop()
  states.push(cell.state)
  assert.deepEqual(states, ['stopping', 'stopped'])
})

test('a cell that does not answer has its time again while its start makes progress, and is ended as silent', async (t) => {
  const words = ['file 1', 'file 2', 'file 3', 'file 3', 'file 4']
  const ended = Promise.withResolvers<Exit>()
  const probe = () => Promise.reject(new Error('it is starting up'))
  const cell = supervise(
    { cleanUp: async () => undefined },
    {
      ...SPEC,
      ready: { probe, timeoutMs: 20, progress: () => words.shift() },
      ended: (exit) => ended.resolve(exit),
    },
  )
  t.after(() => cell.stop())
  const { signal, silent } = await ended.promise
  assert.deepEqual([signal, silent, words[0]], ['SIGKILL', true, 'file 4'])
})

test('a start that stands still from its first step on has its time once', async (t) => {
  const ended = Promise.withResolvers<Exit>()
  let windows = 0
  const probe = () => {
    windows++
    return new Promise<void>(() => undefined)
  }
  const ready = { probe, timeoutMs: 200, progress: () => 'file 1' }
  const more = { ready, ended: (exit: Exit) => ended.resolve(exit) }
  const cell = supervise({ cleanUp: async () => undefined }, { ...SPEC, ...more })
  t.after(() => cell.stop())
  assert.equal((await ended.promise).silent, true)
  assert.equal(windows, 1)
})

test('a cell that does not answer is ended after its time where nothing is known of its start', async (t) => {
  const ended = Promise.withResolvers<Exit>()
  const probe = () => Promise.reject(new Error('it is starting up'))
  const ready = { probe, timeoutMs: 20 }
  const more = { ready, ended: (exit: Exit) => ended.resolve(exit) }
  const cell = supervise({ cleanUp: async () => undefined }, { ...SPEC, ...more })
  t.after(() => cell.stop())
  assert.equal((await ended.promise).silent, true)
})

test('the end of a life is told behind its last line, which is read late', async (t) => {
  const told = Promise.withResolvers<readonly string[]>()
  const launch = () => {
    const [stdout, program] = [new PassThrough(), new PassThrough()]
    setImmediate(() => stdout.end('of its start\n'))
    setTimeout(() => program.end('the last\n'), 100)
    return {
      ...lifeWithoutProcess(),
      stdout,
      program: Promise.resolve({ stdout: program, stderr: Readable.from([]) }),
      exit: Promise.resolve({ code: 3, signal: null }),
    }
  }
  const cell = supervise(
    { cleanUp: async () => undefined, launch },
    { ...SPEC, output: () => undefined, ended: (_, { lastLines }) => told.resolve(lastLines) },
  )
  t.after(() => cell.stop())
  assert.deepEqual(await told.promise, ['of its start', 'the last'])
})
