// Databases whose log was not stored, on a state of its own: whose server starts for it, how often and how many at once.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { storeWaitingLogs } from './waiting-logs.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'

let state: State
ledgerOfFile(2, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
})
beforeEach(async () => {
  if (skip === false) await state.query('update databases set is_archived = true')
})

let made = 0
/** A database that may run, and whose log is not stored; returns its id. */
async function waiting(): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    "select add_database($1, $2, 'local', 99, 1000000) as id",
    [ACCOUNT, `waiting-${++made}`],
  )
  const id = rows[0]?.id ?? assert.fail()
  for (const reached of ['deploying', 'deployed'])
    await state.query('select move_resource($1, $2)', [id, reached])
  await state.query('update databases set is_archived = false where id = $1', [id])
  return id
}

const stored = (id: string) =>
  state.query('update databases set is_archived = true where id = $1', [id])

type Start = (id: string) => Promise<void> | void

/** Works until so many checks are over; returns the starts in their order, and the most that ran at once. */
async function startsOf(start: Start, running: readonly string[] = [], checks = 6) {
  const starts: string[] = []
  let now = 0
  let most = 0
  let seen = 0
  const ending = new AbortController()
  await storeWaitingLogs(
    {
      state: {
        query: async (text, values) => {
          if (++seen > checks) ending.abort()
          return await state.query(text, values)
        },
      },
      log: { debug: () => undefined, warn: () => undefined },
      storing: () => Promise.resolve(),
      checkMs: 5,
      followedMs: 1,
    },
    {
      running: () => running.map((id) => ({ id, account: ACCOUNT })),
      async use({ id, idleMs }, { cause }) {
        assert.deepEqual({ idleMs, cause }, { idleMs: 0, cause: 'backup' })
        starts.push(id)
        most = Math.max(most, ++now)
        try {
          await sleep(5)
          await start(id)
        } catch (error) {
          now--
          throw error
        }
        return { socketPath: '', release: () => void now-- }
      },
    },
    ending.signal,
  )
  assert.equal(now, 0)
  return { starts, most }
}

test(
  'storeWaitingLogs() starts each server once where its log is stored then',
  { skip },
  async () => {
    const ids = [await waiting(), await waiting()]
    const { starts } = await startsOf(async (id) => void (await stored(id)))
    assert.deepEqual(starts.toSorted(), ids.toSorted())
  },
)

test(
  'storeWaitingLogs() starts no server that runs, and none of a suspended database',
  { skip },
  async () => {
    const [running, suspended] = [await waiting(), await waiting()]
    await state.query("update resources set desired = 'suspended' where id = $1", [suspended])
    assert.deepEqual((await startsOf(() => undefined, [running])).starts, [])
  },
)

test(
  'storeWaitingLogs() gives a server three starts, whether they fail or nobody stores the log',
  { skip },
  async () => {
    const [unpaid, deaf] = [await waiting(), await waiting()]
    const { starts } = await startsOf((id) => {
      if (id === unpaid) throw fault('balance_depleted', 'there is no money')
    })
    assert.deepEqual(starts.toSorted(), [unpaid, unpaid, unpaid, deaf, deaf, deaf].toSorted())
  },
)

test('storeWaitingLogs() runs four servers at once', { skip }, async () => {
  const ids: string[] = []
  for (let nth = 0; nth < 9; nth++) ids.push(await waiting())
  const { starts, most } = await startsOf(async (id) => void (await stored(id)), [], 3)
  assert.deepEqual([starts.toSorted(), most], [ids.toSorted(), 4])
})
