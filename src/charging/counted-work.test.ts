import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { countedWork } from './counted-work.ts'

const STATEMENT_MS = 60

/** The time that statements are billed for, which all begin now. */
async function billedMs(statements: number): Promise<number> {
  let sumMs = 0
  const spend = { countUnits: (_: number, elapsedMs: number) => void (sumMs += elapsedMs) }
  const one = () =>
    countedWork(
      spend,
      () => pause(STATEMENT_MS),
      () => 1,
    )
  await Promise.all(Array.from({ length: statements }, one))
  return sumMs
}

test('statements that run at once share their time, and one that fails takes none of the next', async () => {
  for (const statements of [1, 32]) {
    const fromMs = performance.now()
    const billed = await billedMs(statements)
    const wallMs = performance.now() - fromMs
    assert.ok(billed <= wallMs, `${statements}: ${billed} of ${wallMs} ms`)
    assert.ok(billed > STATEMENT_MS / 2, `${statements}: ${billed} ms`)
  }
  const failing = countedWork(
    { countUnits: () => assert.fail('nothing was done') },
    () => Promise.reject(new Error('the statement failed')),
    () => 1,
  )
  await assert.rejects(failing, /the statement failed/)
  assert.ok((await billedMs(1)) > STATEMENT_MS / 2)
})
