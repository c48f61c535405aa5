// Runs on a state of their own: whose turn it is, when one is tried again, and when the state is asked.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { runFunctions, type RunsDeps } from './run-functions.ts'
import { lookAtSchedules } from './schedules.ts'

const skip = whyNoState()
const MS_PER_HOUR = 3_600_000
const MS_PER_DAY = 24 * MS_PER_HOUR

let state: State
ledgerOfFile(4, async (made) => {
  state = made
  for (const id of ['acct_a', 'acct_b'])
    await addTestAccount(state, { id, env: 'test', lowWater: 0n })
})
beforeEach(async () => {
  if (skip === false) await state.query('delete from function_runs')
})

let made = 0
/** A function whose first version answers; returns its id. */
async function addFunction({
  account = 'acct_a',
  schedule = null as string | null,
} = {}): Promise<string> {
  const settings = {
    route: `/f${++made}`,
    runtime: 'node24',
    memory_bytes: 1e8,
    timeout_s: 30,
    env_names: [],
    sealed_env: '',
    file: 'index.mjs',
    source: '',
    buckets: [],
    schedule,
  }
  const { rows } = await state.query<{ id: string }>(
    "select deploy_function($1, $2, 'local', 100, '{}', $3, 10) as id",
    [account, `f${made}`, JSON.stringify(settings)],
  )
  const id = rows[0]?.id ?? ''
  await state.query('select make_function_live($1, 1, 20)', [id])
  return id
}

/** Adds a run that is due after some time; returns its id. */
async function addRun(of: string, { inS = 0, attempts = 0 } = {}): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    `insert into function_runs (function, event, data, next_at, attempts, created_at)
     values ($1, 'schedule', '{}', ledger_now() + $2 * interval '1 second', $3, ledger_now()) returning id`,
    [of, inS, attempts],
  )
  return rows[0]?.id ?? ''
}

const settle = (id: string, outcome: string, delayMs: number | null, most = 1000) =>
  state.query('select settle_function_runs($1, $2)', [
    JSON.stringify([{ id, outcome, attempts: 0, delay_ms: delayMs }]),
    most,
  ])
const nextMs = async (known: readonly string[] = []): Promise<number | null> =>
  (await state.query<{ ms: number | null }>('select function_runs_next_ms(10, $1) as ms', [known]))
    .rows[0]?.ms ?? null

test('accounts take turns, whatever one of them has waiting', { skip }, async () => {
  const many = await addFunction()
  const few = await addFunction({ account: 'acct_b' })
  for (let nth = 0; nth < 5; nth++) await addRun(many, { inS: -100 })
  await addRun(few)
  const due = await state.query('select account from function_runs_due(10, 2, $1)', [[]])
  assert.deepEqual(due.rows.map((row) => String(row['account'])).toSorted(), ['acct_a', 'acct_b'])
})

test('an account has ten runs at once, whatever functions they are of', { skip }, async () => {
  for (let nth = 0; nth < 3; nth++) {
    const one = await addFunction()
    for (let run = 0; run < 5; run++) await addRun(one, { inS: -100 })
  }
  const other = await addRun(await addFunction({ account: 'acct_b' }))
  const due = async (known: readonly string[]) =>
    (
      await state.query<{ id: string }>('select id from function_runs_due(10, 50, $1)', [known])
    ).rows.map(({ id }) => id)
  const first = await due([])
  assert.equal(first.length, 11)
  assert.deepEqual(await due(first), [])
  assert.deepEqual(await due(first.filter((id) => id !== other)), [other])
})

test('functions of an account take turns, whatever one of them has waiting', { skip }, async () => {
  const due = async (known: readonly string[]) =>
    (await state.query<{ id: string }>('select id from function_runs_due(10, 50, $1)', [known]))
      .rows
  const [many, few, later] = [await addFunction(), await addFunction(), await addFunction()]
  const old: string[] = []
  for (let nth = 0; nth < 15; nth++) old.push(await addRun(many, { inS: -100 }))
  const fresh = await addRun(few)
  // A run that cannot begin yet has no place.
  for (let nth = 0; nth < 10; nth++) await addRun(later, { inS: 100 })
  const first = await due([])
  assert.equal(first.length, 10)
  assert.ok(first.some(({ id }) => id === fresh))
  // All ten places are those of one function: the next free place is for the other.
  assert.deepEqual(await due(old.slice(0, 10)), [])
  await settle(old[0] ?? '', 'done', null)
  assert.deepEqual(await due(old.slice(1, 10)), [{ id: fresh }])
})

test(
  'a run that fails is tried again after 10 s, 1, 5, 30 min and 2 h, and no more',
  { skip },
  async () => {
    const waits = [10, 60, 300, 1800, 7200, null]
    // A function of its own for each: one that fails often rests.
    for (const [attempts] of waits.entries()) await addRun(await addFunction(), { attempts })
    const ending = new AbortController()
    const running = runFunctions(
      {
        state,
        log: createLogger('test', { level: 'error' }),
        line() {},
        functions: { use: () => Promise.reject(fault('function_failed', 'Could not load it')) },
        urlOf: () => 'http://localhost',
        payloadOf: async () => ({}),
      },
      ending.signal,
    )
    const read = async () =>
      (
        await state.query<{ tried: boolean; wait: number | null }>(
          `select attempted_at is not null as tried, extract(epoch from next_at - attempted_at)::float8 as wait
         from function_runs order by id`,
        )
      ).rows
    try {
      const lastMs = performance.now() + 15_000
      while ((await read()).some(({ tried }) => !tried)) {
        assert.ok(performance.now() < lastMs)
        await sleep(20)
      }
    } finally {
      ending.abort()
      await running
    }
    assert.deepEqual(
      (await read()).map(({ wait }) => wait),
      waits,
    )
  },
)

/** Works on runs until `isOver`, each query by `ask`. */
async function work(
  use: RunsDeps['functions']['use'],
  ask: (text: string, query: () => ReturnType<State['query']>) => ReturnType<State['query']>,
  isOver: () => Promise<boolean>,
): Promise<void> {
  const query = ((text, values) => ask(text, () => state.query(text, values))) as State['query']
  const ending = new AbortController()
  const running = runFunctions(
    {
      state: { ...state, query },
      log: createLogger('test', { level: 'error' }),
      line() {},
      functions: { use },
      urlOf: () => 'http://localhost',
      payloadOf: async () => ({}),
      againMs: 20,
    },
    ending.signal,
  )
  try {
    const lastMs = performance.now() + 15_000
    while (!(await isOver())) {
      assert.ok(performance.now() < lastMs)
      await sleep(20)
    }
  } finally {
    ending.abort()
    await running
  }
}

const gone = () => fault('state_unavailable', 'Could not ask the state: it is away')

test('a query that fails begins no run again beside itself', { skip }, async () => {
  const many = await addFunction()
  for (let nth = 0; nth < 12; nth++) await addRun(many)
  let begun = 0
  let looks = 0
  await work(
    (_, signal) => {
      begun++
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    },
    async (text, query) => {
      if (!text.includes('function_runs_due')) return await query()
      looks++
      if (begun > 0 && looks % 2 === 0) throw gone()
      return await query()
    },
    async () => {
      await state.query("select pg_notify('ergon_followed', '')")
      return looks > 6 || begun > 10
    },
  )
  assert.equal(begun, 10)
})

test(
  'the end of a run is recorded once when the state is back, and the run is not repeated',
  { skip },
  async () => {
    const id = await addRun(await addFunction())
    let uses = 0
    let settled = 0
    const attempts = async () =>
      (await state.query('select attempts from function_runs where id = $1', [id])).rows
    await work(
      async () => {
        uses++
        throw fault('function_failed', 'Could not load it')
      },
      async (text, query) => {
        if (!text.includes('settle_function_runs')) return await query()
        settled++
        if (settled === 1) throw gone()
        const answer = await query()
        // Its answer is lost.
        if (settled === 2) throw gone()
        return answer
      },
      async () => settled >= 3 || uses > 1,
    )
    assert.deepEqual(
      { uses, settled, rows: await attempts() },
      { uses: 1, settled: 3, rows: [{ attempts: 1 }] },
    )
  },
)

test(
  'times of the last day that nobody looked at are made up for, earlier ones are not',
  { skip },
  async () => {
    const yearly = (agoMs: number) => {
      const at = new Date(Date.now() - agoMs)
      return `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`
    }
    const late = await addFunction({ schedule: yearly(12 * MS_PER_HOUR) })
    const old = await addFunction({ schedule: yearly(2 * MS_PER_DAY) })
    await state.query(
      "update functions set scheduled_to = scheduled_to - interval '100 days' where id = any($1)",
      [[late, old]],
    )
    await lookAtSchedules(state)
    const { rows } = await state.query('select function from function_runs')
    assert.deepEqual(rows, [{ function: late }])
    await state.query("update resources set desired = 'deleted' where id = any($1)", [[late, old]])
  },
)

test('a clock that is set back by a day delays no run by a day', { skip }, async () => {
  const id = await addFunction()
  // As they were written before the clock was set back.
  await addRun(id, { inS: MS_PER_DAY / 1000 })
  await state.query(
    "update functions set rest_until = ledger_now() + interval '1 day' where id = $1",
    [id],
  )
  assert.ok(Number(await nextMs()) <= 0)
  const due = await state.query('select id from function_runs_due(10, 10, $1)', [[]])
  assert.equal(due.rowCount, 1)
  // The longest delays that are meant.
  await state.query("update function_runs set next_at = ledger_now() + interval '2 hours'")
  assert.ok(Number(await nextMs()) > 7_100_000)
  await state.query('update functions set rest_until = null where id = $1', [id])
})

test(
  'a schedule goes on at once where its clock was set on and back by a day',
  { skip },
  async () => {
    const id = await addFunction({ schedule: '* * * * *' })
    await state.query(
      "update functions set scheduled_to = scheduled_to + interval '1 day' where id = $1",
      [id],
    )
    await lookAtSchedules(state)
    const runs = async () =>
      (await state.query('select from function_runs where function = $1', [id])).rowCount
    assert.equal(await runs(), 0)
    await state.query(
      "update functions set scheduled_to = scheduled_to - interval '1 minute' where id = $1",
      [id],
    )
    await lookAtSchedules(state)
    assert.equal(await runs(), 1, 'it looks from now on')
    await state.query("update resources set desired = 'deleted' where id = $1", [id])
  },
)

test('the newest dead runs of a function are kept, so many', { skip }, async () => {
  const id = await addFunction()
  const dead: string[] = []
  for (let nth = 0; nth < 5; nth++) {
    dead.push(await addRun(id))
    await settle(dead.at(-1) ?? '', 'failed', null, 3)
  }
  const { rows } = await state.query<{ id: string }>('select id from function_runs order by id')
  assert.deepEqual(
    rows.map((row) => row.id),
    dead.slice(2),
  )
})

test('the state is asked again when a run can begin, and not before', { skip }, async () => {
  assert.equal(await nextMs(), null)
  const id = await addFunction()
  const first = await addRun(id)
  assert.ok(Number(await nextMs()) <= 0)
  // It is in work.
  assert.equal(await nextMs([first]), null)
  await addRun(id, { inS: 100 })
  assert.ok(Number(await nextMs([first])) > 90_000)
  // No further one has a place beside it.
  await state.query('update function_versions set concurrency = 1 where function = $1', [id])
  assert.equal(await nextMs([first]), null)
  await settle(first, 'waits', 50_000)
  assert.ok(Number(await nextMs()) > 45_000)
  await settle(first, 'done', null)
  await state.query('delete from function_runs')
  assert.equal(await nextMs(), null)
  const { rows } = await state.query('select rest_until from functions where id = $1', [id])
  assert.deepEqual(rows, [{ rest_until: null }])
})
