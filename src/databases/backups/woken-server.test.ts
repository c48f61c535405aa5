import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '#postgres/testing.ts'
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
    return { rows: [{ end: `0/${end}`, isReached }], rowCount: isReached ? 1 : 0 }
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
