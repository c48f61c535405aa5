import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, State } from '#state/connect.ts'
import { createInstances, NotWanted, type Instances } from './instances.ts'
import { beginInterval, endOpenIntervals, readIntervals } from './intervals.ts'
import type { Resource } from './resource.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const IDLE_MS = 30
const WAIT_MS = 60_000
const DAY_MS = 86_400_000
const HALF_HOUR = 1 / 48
const { signal } = new AbortController()
const WAKER = { cause: 'connection', role: 'owner' } as const

/** Lives of instances in the order in which they began and ended; `live` is what runs now. */
type World = {
  readonly state: State
  readonly resource: Resource
  readonly events: string[]
  live: number
  mayStart: boolean
  mayEnd: boolean
}

async function withWorld(
  work: (world: World, of: (state?: Queryable) => Instances<Resource, OneLife>) => Promise<void>,
): Promise<void> {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 2)
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  const { rows } = await state.query<{ id: string }>(
    "select add_resource('database', $1, 'one', 'local', 9) as id",
    [ACCOUNT],
  )
  const resource = { id: rows[0]?.id ?? '', account: ACCOUNT, name: 'one' }
  const world: World = { state, resource, events: [], live: 0, mayStart: true, mayEnd: true }
  await work(world, (given = state) =>
    createInstances({
      state: given,
      log: quiet,
      idleMs: IDLE_MS,
      prepare: async () => async () => startLife(world),
    }),
  )
}

type OneLife = ReturnType<typeof startLife>

/** An instance that needs some turns of the loop to begin and to end. */
function startLife(world: World) {
  if (!world.mayStart) throw new Error('no room')
  world.live++
  world.events.push('start')
  return {
    ready: async () => void (await pause(2)),
    async end() {
      world.events.push('ending')
      await pause(5)
      if (!world.mayEnd) throw new Error('it does not end')
      world.live--
      world.events.push('end')
    },
  }
}

const want = (world: World, wanted: string) =>
  world.state.query('select want_resource($1, $2)', [world.resource.id, wanted])

const intervalsOf = ({ state, resource }: World) =>
  readIntervals(state, resource.id, {
    from: new Date(0),
    to: new Date(Date.now() + DAY_MS),
    before: undefined,
    limit: 10,
  })

async function until(holds: () => boolean): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!holds()) {
    assert.ok(performance.now() < lastMs)
    await pause(2)
  }
}

test(
  'uses share an instance, which ends a while after the last one; the next use starts another',
  { skip },
  () =>
    withWorld(async (world, of) => {
      const instances = of()
      const [one, other] = await Promise.all([
        instances.use(world.resource, WAKER, signal),
        instances.use(world.resource, WAKER, signal),
      ])
      one.release()
      one.release()
      await pause(3 * IDLE_MS)
      assert.deepEqual(world.events, ['start'])
      const { id } = world.resource
      const running = instances.running().map((one) => [one.key, one.id, one.account])
      assert.deepEqual(running, [[id, id, ACCOUNT]])
      other.release()
      await until(() => world.events.includes('ending'))
      await instances.use(world.resource, WAKER, signal)
      assert.deepEqual(world.events, ['start', 'ending', 'end', 'start'])
    }),
)

test('a release while the instance is being ended does not end the next one', { skip }, () =>
  withWorld(async (world, of) => {
    const instances = of()
    const first = await instances.use(world.resource, WAKER, signal)
    const stopped = instances.stop(world.resource.id, 'suspended')
    await until(() => world.events.includes('ending'))
    assert.equal(first.endedBy(), 'suspended')
    first.release()
    await stopped
    const second = await instances.use(world.resource, WAKER, signal)
    await pause(3 * IDLE_MS)
    assert.equal(second.endedBy(), undefined)
    assert.deepEqual(world.events, ['start', 'ending', 'end', 'start'])
    second.release()
    await until(() => world.live === 0)
  }),
)

test(
  'instances of two keys run side by side, and one that is retired ends with its last use',
  { skip },
  () =>
    withWorld(async (world) => {
      const { state, resource } = world
      const instances = createInstances<Resource & { version: number }, OneLife>({
        state,
        log: quiet,
        idleMs: WAIT_MS,
        keyOf: ({ version }) => `v${version}`,
        prepare: async () => async () => startLife(world),
      })
      const use = (version: number) => instances.use({ ...resource, version }, WAKER, signal)
      const [first, again, second] = await Promise.all([use(1), use(1), use(2)])
      assert.equal(world.live, 2)
      instances.retireOthers(resource.id, new Set(['v2']))
      instances.retireOthers('db_other', new Set())
      first.release()
      await pause(3 * IDLE_MS)
      assert.equal(world.live, 2)
      again.release()
      await until(() => world.live === 1)
      // One that nobody uses ends at once.
      second.release()
      instances.retireOthers(resource.id, new Set())
      await until(() => world.live === 0)
      assert.deepEqual(instances.running(), [])
      await Promise.all([use(1), use(2)])
      await instances.stopAll('db_other', 'stop')
      assert.equal(world.live, 2)
      await instances.stopAll(resource.id, 'stop')
      assert.equal(world.live, 0)
    }),
)

test('a use waits for work that needs the instance away, also for work that fails', { skip }, () =>
  withWorld(async (world, of) => {
    const instances = of()
    await instances.use(world.resource, WAKER, signal)
    const doWork = (error?: Error) => async () => {
      assert.equal(world.live, 0)
      world.events.push('work')
      await pause(10)
      if (error !== undefined) throw error
      world.events.push('worked')
    }
    const failing = instances.without(world.resource.id, doWork(new Error('of the work')))
    const working = instances.without(world.resource.id, doWork())
    const used = instances.use(world.resource, WAKER, signal)
    await assert.rejects(failing, /of the work/)
    await working
    await used
    assert.deepEqual(world.events, ['start', 'ending', 'end', 'work', 'work', 'worked', 'start'])
  }),
)

test(
  'a resource that is not wanted any more is not started, whenever its account says so',
  { skip },
  () =>
    withWorld(async (world, of) => {
      // A start is held up right after it has read the wish of the account.
      let goOn: () => void = () => undefined
      const gate = new Promise<void>((resolve) => (goOn = resolve))
      const slow = {
        query: async (...given: Parameters<State['query']>) => {
          const found = await world.state.query(...given)
          await gate
          return found
        },
      } as Queryable
      const instances = of(slow)
      const used = instances.use(world.resource, WAKER, signal).then(
        () => 'used',
        () => 'refused',
      )
      await pause(20)
      await want(world, 'suspended')
      const suspended = instances.stop(world.resource.id, 'suspended')
      goOn()
      await suspended
      assert.equal(world.live, 0)
      await used
      await assert.rejects(instances.use(world.resource, WAKER, signal), NotWanted)
      assert.deepEqual([world.live, instances.running()], [0, []])
      await want(world, 'deployed')
      await instances.use(world.resource, WAKER, signal)
      assert.equal(world.live, 1)
    }),
)

test(
  'the needs of a start are read beside the wish; a resource that is not wanted is told so first, and not started',
  { skip },
  () =>
    withWorld(async (world) => {
      const { state, resource } = world
      const answered = Promise.withResolvers<void>()
      const slow = {
        query: async (...given: Parameters<State['query']>) => {
          const found = await state.query(...given)
          await answered.promise
          return found
        },
      } as Queryable
      let mayRead = true
      const instances = createInstances<Resource, OneLife>({
        state: slow,
        log: quiet,
        idleMs: IDLE_MS,
        async prepare() {
          world.events.push('read')
          if (!mayRead) throw new Error('not found')
          return async () => startLife(world)
        },
      })
      const used = instances.use(resource, WAKER, signal)
      await until(() => world.events.length > 0)
      assert.deepEqual(world.events, ['read'])
      answered.resolve()
      ;(await used).release()
      await until(() => world.live === 0)
      mayRead = false
      await assert.rejects(instances.use(resource, WAKER, signal), /not found/)
      await want(world, 'suspended')
      await assert.rejects(instances.use(resource, WAKER, signal), NotWanted)
      mayRead = true
      await assert.rejects(instances.use(resource, WAKER, signal), NotWanted)
      assert.deepEqual(world.events, ['read', 'start', 'ending', 'end', 'read', 'read', 'read'])
    }),
)

test(
  'a start that fails is tried again by the next use; an end that fails is no end',
  { skip },
  () =>
    withWorld(async (world, of) => {
      const instances = of()
      world.mayStart = false
      await assert.rejects(instances.use(world.resource, WAKER, signal), /no room/)
      assert.deepEqual(instances.running(), [])
      world.mayStart = true
      await instances.use(world.resource, WAKER, signal)
      world.mayEnd = false
      await assert.rejects(instances.stop(world.resource.id, 'suspended'), /does not end/)
      assert.equal(instances.running().length, 1)
      await assert.rejects(instances.use(world.resource, WAKER, signal), /does not end/)
      world.mayEnd = true
      world.events.length = 0
      await instances.use(world.resource, WAKER, signal)
      assert.deepEqual(world.events, ['ending', 'end', 'start'])
      await instances.without(world.resource.id, async () => assert.equal(world.live, 0))
      instances.close()
      await assert.rejects(instances.use(world.resource, WAKER, signal), NotWanted)
    }),
)

test(
  'a use that waits for an instance which is ended rejects with the reason of that end',
  { skip },
  () =>
    withWorld(async ({ state, resource }) => {
      const life = Promise.withResolvers<void>()
      life.promise.catch(() => undefined)
      const instances = createInstances({
        state,
        log: quiet,
        idleMs: IDLE_MS,
        prepare: async () => async () => ({
          ready: () => life.promise,
          end: async () => life.reject(new Error('it was stopped before it answered')),
        }),
      })
      const begun = Promise.withResolvers<void>()
      const used = instances.use(resource, WAKER, signal, () => begun.resolve())
      await begun.promise
      const why = new Error('nothing is left of the budget')
      await Promise.all([assert.rejects(used, why), instances.stop(resource.id, 'budget', why)])
    }),
)

test('the interval of each life has its waker and the cause of its end', { skip }, () =>
  withWorld(async (world, of) => {
    const instances = of()
    const { id } = world.resource
    const backup = { cause: 'backup' } as const
    const first = await instances.use(world.resource, WAKER, signal)
    await instances.use(world.resource, backup, signal)
    await instances.stop(id, 'budget')
    first.release()
    const second = await instances.use(world.resource, backup, signal)
    second.release()
    await until(() => world.live === 0)
    await instances.use(world.resource, WAKER, signal)
    await instances.without(id, async () => undefined)
    world.mayStart = false
    await assert.rejects(instances.use(world.resource, WAKER, signal), /no room/)
    world.mayStart = true
    await instances.use(world.resource, { cause: 'change' }, signal)
    const rows = async () =>
      (await intervalsOf(world)).map(({ woken_by, role, slept_by, to }) => ({
        woken_by,
        role,
        slept_by,
        ended: to !== null,
      }))
    const role = null
    const expected = [
      { woken_by: 'connection', role: 'owner', slept_by: 'change', ended: true },
      { woken_by: 'backup', role, slept_by: 'idle', ended: true },
      { woken_by: 'connection', role: 'owner', slept_by: 'budget', ended: true },
    ]
    assert.deepEqual(await rows(), [
      { woken_by: 'change', role, slept_by: null, ended: false },
      ...expected,
    ])
    // The node was stopped meanwhile.
    const leftMs = Date.now() + DAY_MS
    const node = { state: world.state, leftToMs: new Map([[id, leftMs]]) }
    await endOpenIntervals(node, 'workload')
    assert.equal((await rows())[0]?.ended, false)
    await endOpenIntervals(node, 'database')
    assert.deepEqual(await rows(), [
      { woken_by: 'change', role, slept_by: 'stop', ended: true },
      ...expected,
    ])
    const toMs = (await intervalsOf(world))[0]?.to?.getTime()
    assert.equal(toMs, leftMs, 'the end of a charge that is still to come')
  }),
)

test('intervals are listed by range and page, and old ones are forgotten', { skip }, () =>
  withWorld(async (world) => {
    const { id } = world.resource
    await world.state.query(
      `insert into resource_intervals (resource, from_at, to_at, woken_by, slept_by)
       select $1, now() - make_interval(days => d), now() - make_interval(days => d) + interval '1 hour', 'change', 'idle'
       from generate_series(40, 1, -1) d`,
      [id],
    )
    const nowMs = Date.now()
    const range = (
      fromDay: number,
      toDay: number,
      more: { before?: string; limit?: number } = {},
    ) =>
      readIntervals(world.state, id, {
        from: new Date(nowMs - fromDay * DAY_MS),
        to: new Date(nowMs - toDay * DAY_MS),
        before: more.before,
        limit: more.limit ?? 100,
      })
    assert.equal((await range(100, 0)).length, 40)
    // The interval that has begun before the range is in it until it ends.
    assert.equal((await range(3 - HALF_HOUR, 2 + HALF_HOUR)).length, 1)
    assert.equal((await range(3 - 2 * HALF_HOUR - 0.01, 2 + HALF_HOUR)).length, 0)
    const page = await range(100, 0, { limit: 3 })
    const next = await range(100, 0, { limit: 3, before: page[2]?.id ?? '' })
    assert.deepEqual(
      [...page, ...next].map(({ from }) => Math.round((nowMs - from.getTime()) / DAY_MS)),
      [1, 2, 3, 4, 5, 6],
    )
    const open = await beginInterval(world.state, id, WAKER)
    assert.deepEqual([(await range(100, -1)).length, (await range(100, -1))[0]?.id], [32, open])
    await world.state.query("select begin_interval($1, 'change', null, 31, 5)", [id])
    assert.equal((await range(100, -1)).length, 5)
  }),
)
