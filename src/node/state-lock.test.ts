import { SCHEMAS } from '#processes/schemas.ts'
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { lockState, stateHolder, type StateLock } from './state-lock.ts'

const OPTIONS = { skip: whyNoState(), timeout: 120_000 }
const TIMES = { waitMs: 500, watchMs: 300, heartbeatMs: 100 }
/** The lock of the schema that is asked in, and which process of the server has it. */
const KEY = '4207720, hashtext(current_schema()) & 2147483647'
const HOLDER = `select pid from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())
  and classid = 4207720 and objid = (hashtext(current_schema()) & 2147483647)::oid`

type Nodes = {
  readonly state: State
  /** Wants the state for a data folder; `step` hears that it waits. */
  start(
    folder: string,
    how?: { signal?: AbortSignal; step?: () => void; waitMs?: number },
  ): Promise<StateLock>
  readonly lost: readonly unknown[]
  holder(): Promise<number | undefined>
  /** Ends the connection that has the lock, as a restart of the server does. */
  cut(): Promise<number | undefined>
}

/** Nodes that want one state, for a test; they end with it. */
async function withNodes(state: State, url: string, work: (nodes: Nodes) => Promise<void>) {
  await state.query('delete from state_owner')
  await using stack = new AsyncDisposableStack()
  const lost: unknown[] = []
  const holder = async () => (await state.query<{ pid: number }>(HOLDER)).rows[0]?.pid
  await work({
    state,
    lost,
    holder,
    async start(folder, { signal = new AbortController().signal, step = () => {}, waitMs } = {}) {
      const deps = { address: { url }, folder, log: quiet, step, signal }
      const told = (error: unknown) => void lost.push(error)
      const times = { ...TIMES, ...(waitMs === undefined ? {} : { waitMs }) }
      return stack.use(await lockState({ ...deps, times, lost: told }))
    },
    async cut() {
      const pid = await holder()
      await state.query('select pg_terminate_backend($1)', [pid])
      return pid
    },
  })
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5)
}

const CASES = new Map<string, (nodes: Nodes) => Promise<void>>()

const inUse = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ErgonError)
  assert.equal(error.code, 'state_in_use')
  assert.match(error.message, words)
  return true
}

CASES.set(
  'a second node is refused and told who has the state, until that one stops',
  async ({ start, holder }: Nodes) => {
    const first = await start('/a')
    await assert.rejects(start('/b'), inUse(/^Could not start: .* in use by another node\./))
    await first.claim()
    const pid = await holder()
    const says = new RegExp(
      `the node on ${hostname()} in /a, since \\d{4}-.*Z\\. .*DATABASE_URL; .* pg_terminate_backend\\(${pid}\\)$`,
    )
    await assert.rejects(start('/b'), inUse(says))
    await first[Symbol.asyncDispose]()
    const second = await start('/b')
    await second.claim()
  },
)

CASES.set(
  'whoever asks is told who has the state, and whether that one has its lock',
  async ({ state, start, holder }: Nodes) => {
    assert.equal(await stateHolder(state), undefined)
    const node = await start('/a')
    await node.claim()
    const { since, ...rest } = (await stateHolder(state)) ?? {}
    assert.deepEqual(rest, { host: hostname(), folder: '/a', backend: await holder() })
    assert.ok(Math.abs(Date.now() - Number(since)) < 60_000)
    await node[Symbol.asyncDispose]()
    await eventually(async () => (await stateHolder(state))?.backend === null)
    assert.equal((await stateHolder(state))?.folder, '/a')
  },
)

CASES.set(
  'a start waits for a lock that its server still gives to a node that was killed',
  async ({ state, start }: Nodes) => {
    const gone = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const dying = state.session(async (connection) => {
      await connection.query(`select pg_advisory_lock(${KEY})`)
      held.resolve()
      await gone.promise
      await connection.query('select pg_advisory_unlock_all()')
    })
    await held.promise
    const starting = start('/a')
    gone.resolve()
    await dying
    await (await starting).claim()
  },
)

CASES.set('a stop ends the waiting', async ({ start }: Nodes) => {
  await start('/a')
  const reason = new Error('stopped')
  await assert.rejects(start('/b', { signal: AbortSignal.abort(reason) }), reason)
})

CASES.set(
  'a lock that was lost with its connection is taken again',
  async ({ start, lost, holder, cut }: Nodes) => {
    const lock = await start('/a')
    await lock.claim()
    const before = await cut()
    await eventually(async () => ![undefined, before].includes(await holder()))
    assert.deepEqual(lost, [])
    await assert.rejects(start('/b'), inUse(/in \/a/))
  },
)

CASES.set(
  'an earlier connection that the server has not noticed to be gone is no other node',
  async ({ state, start, lost, holder, cut }: Nodes) => {
    const lock = await start('/a')
    await lock.claim()
    let stale: number | undefined
    await state.session(async (connection) => {
      const waiting = connection.query(`select pg_advisory_lock(${KEY}), pg_backend_pid() as pid`)
      await cut()
      stale = Number((await waiting).rows[0]?.['pid'])
      await triedAgain(state)
      assert.deepEqual([await holder(), lost], [stale, []])
      await connection.query('select pg_advisory_unlock_all()')
    })
    await eventually(async () => ![undefined, stale].includes(await holder()))
    assert.deepEqual(lost, [])
  },
)

/** A node has asked who has the state since this was called. */
async function triedAgain(state: State): Promise<void> {
  const { rows } = await state.query<{ now: Date }>('select clock_timestamp() as now')
  await eventually(async () => {
    const { rowCount } = await state.query(
      `select from pg_stat_activity where query = 'select life, host, folder, since from state_owner'
         and state_change > $1`,
      [rows[0]?.now],
    )
    return rowCount > 0
  })
}

CASES.set(
  'a node whose state another one took meanwhile is told so',
  async ({ state, start, lost, cut }: Nodes) => {
    const lock = await start('/a')
    await lock.claim()
    await state.query("update state_owner set life = gen_random_uuid(), folder = '/b'")
    await cut()
    await eventually(async () => lost.length > 0)
    assert.ok(inUse(/^The state was taken: .* in \/b/)(lost[0]))
  },
)

CASES.set(
  'a lock that is free does not mean that nobody runs: sessions that go on say so',
  async ({ state, start }: Nodes) => {
    const first = await start('/a')
    await first.claim()
    await first[Symbol.asyncDispose]()
    await state.query("select open_session('gw-1', 1)")
    await state.query("update sessions set until = now() + interval '1 hour'")
    await assert.rejects(start('/b'), inUse(/in \/a/))
    // The folder's own lock has said that this is a next life of the same node.
    const again = await start('/a')
    await again[Symbol.asyncDispose]()
    await state.query('update sessions set until = now()')
    await (await start('/b')).claim()
  },
)

test('one node at a time has a state', OPTIONS, async (t) => {
  await using server = await openTestUrl()
  const wanted = { urlOf: server.of, schemas: SCHEMAS, connections: 3 }
  const { state, url } = await openTestState(wanted)
  await using _ = state
  for (const [name, work] of CASES) await t.test(name, () => withNodes(state, url, work))
})
