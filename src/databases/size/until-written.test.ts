import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { untilWritten } from './until-written.ts'

const { signal } = new AbortController()
/** Longer than a test may take: nothing but a write ends such a wait. */
const NEVER_MS = 3_600_000

function madeCluster(t: TestContext): string {
  const data = mkdtempSync(join(tmpdir(), 'ergon-written-'))
  t.after(() => rmSync(data, { recursive: true, force: true }))
  for (const name of ['1', '5', '16384', 'pgsql_tmp'])
    mkdirSync(join(data, 'base', name), { recursive: true })
  writeFileSync(join(data, 'base', '16384', '1259'), 'rows')
  return data
}

for (const file of ['16384/1259', '16384/99001', 'pgsql_tmp/pgsql_tmp7.0'])
  test(`a write to base/${file} ends the wait`, async (t) => {
    const data = madeCluster(t)
    const wait = untilWritten(data, { leastMs: 0, mostMs: NEVER_MS, blindMs: 0 }, signal)
    appendFileSync(join(data, 'base', file), 'more')
    assert.equal(await wait, true)
  })

test('a write before the least time ends the wait at the end of that time', async (t) => {
  const data = madeCluster(t)
  const [early, late] = [0, 1000].map((leastMs) =>
    untilWritten(data, { leastMs, mostMs: NEVER_MS, blindMs: 0 }, signal),
  )
  appendFileSync(join(data, 'base', '16384', '1259'), 'more')
  const first = await Promise.race([early?.then(() => 'early'), late?.then(() => 'late')])
  assert.deepEqual([first, await late], ['early', true])
})

test("without a write, or with one to the service's own tables, the wait takes its most", async (t) => {
  const data = madeCluster(t)
  const wait = untilWritten(data, { leastMs: 0, mostMs: 100, blindMs: NEVER_MS }, signal)
  writeFileSync(join(data, 'base', '5', '1259'), 'rows')
  assert.equal(await wait, false)
})

test('a database that is made ends the wait', async (t) => {
  const data = madeCluster(t)
  const wait = untilWritten(data, { leastMs: 0, mostMs: NEVER_MS, blindMs: 0 }, signal)
  mkdirSync(join(data, 'base', '16385'))
  assert.equal(await wait, true)
})

test('without a cluster the wait is that of the blind, and an aborted signal ends it', async (t) => {
  const blind = { leastMs: NEVER_MS, mostMs: NEVER_MS, blindMs: 1 }
  assert.equal(await untilWritten('/nowhere', blind, signal), false)
  const ending = new AbortController()
  const wait = untilWritten(
    madeCluster(t),
    { leastMs: 0, mostMs: NEVER_MS, blindMs: 0 },
    ending.signal,
  )
  ending.abort()
  await assert.rejects(wait, { name: 'AbortError' })
})
