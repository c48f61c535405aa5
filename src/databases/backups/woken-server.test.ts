import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { WorkDeps } from './job.ts'
import { reachLog } from './woken-server.ts'

const MINUTE_MS = 60_000
const GOAL = 5

/** A state whose log is stored by one piece each time after so long; `pieces` are all that are ever stored. */
function storedBy({ pieces, eachMs }: { readonly pieces: number; readonly eachMs: number }) {
  let nowMs = 0
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  let asked = 0
  const query = async (text: string) => {
    if (text.includes('pg_notify')) return { rows: [], rowCount: 1 }
    nowMs += eachMs
    const end = Math.min(++asked, pieces)
    const isReached = end >= GOAL
    return { rows: [{ sign: `0/${end}`, isReached }], rowCount: 1 }
  }
  const deps = { state: { query }, clock, log: quiet } as unknown as WorkDeps
  const { signal } = new AbortController()
  return { reached: () => reachLog(deps, 'db_1', { position: `0/${GOAL}`, signal }), clock }
}

test('a log that is stored slowly is waited for while further pieces of it are stored', async () => {
  const { reached, clock } = storedBy({ pieces: GOAL, eachMs: MINUTE_MS })
  await reached()
  assert.equal(clock.wallMs(), GOAL * MINUTE_MS)
})

test('a log of which nothing more is stored is given up in words', async () => {
  const { reached } = storedBy({ pieces: GOAL - 1, eachMs: MINUTE_MS })
  await assert.rejects(reached(), /its log could not be stored in time/)
})

test(
  'a log that waits for its turn behind other logs is waited for, and one that waits no more is given up',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })
    const { rows } = await state.query<{ id: string }>(
      "select add_database('acct_a', 'notes', 'local', 99, 1) as id",
    )
    const [{ id } = { id: '' }] = rows
    let nowMs = 0
    let waits = 2 * GOAL
    const query: State['query'] = async (text, values) => {
      if (text.includes('pg_notify') && waits-- > 0) {
        nowMs += MINUTE_MS - 1
        await state.query('update databases set log_waited_at = $2 where id = $1', [
          id,
          new Date(nowMs),
        ])
      } else if (waits < 0) nowMs += MINUTE_MS
      return await state.query(text, values)
    }
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
    const deps = { state: { query }, clock, log: quiet } as unknown as WorkDeps
    const reached = reachLog(deps, id, {
      position: `0/${GOAL}`,
      signal: new AbortController().signal,
    })
    await assert.rejects(reached, /its log could not be stored in time/)
    assert.ok(nowMs > 2 * GOAL * (MINUTE_MS - 1), `given up after ${nowMs} ms`)
  },
)
