import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { energyOfMs } from '#databases/query/energy-of-ms.ts'
import { queryShares } from './database-queries.ts'

const NJ_PER_CPU_S = 7_000_000_000n
const statement = (query: string, executionMs: number) => ({
  query,
  calls: 1,
  rows: 1,
  execution_ms: executionMs,
})

test('database.queries gives a statement its time at one processor, and the rest to the server', () => {
  const found = { statements: [statement('select 1', 2), statement('select 2', 1)], other_ms: 3 }
  const energy = nj(415_000_000n)
  const { queries, other, rest } = queryShares(found, energy, NJ_PER_CPU_S)
  // As the answer of a query of this time says.
  assert.deepEqual(queries, [energyOfMs(2, NJ_PER_CPU_S), energyOfMs(1, NJ_PER_CPU_S)])
  assert.equal(other, energyOfMs(3, NJ_PER_CPU_S))
  assert.equal(rest, 415_000_000n - 42_000_000n)
})

test('database.queries gives statements that waited no more than their server was charged', () => {
  const found = { statements: [statement('select pg_sleep($1)', 3000)], other_ms: 1000 }
  const { queries, other, rest } = queryShares(found, nj(2_000_000_000n), NJ_PER_CPU_S)
  assert.deepEqual([queries, other, rest], [[1_500_000_000n], 500_000_000n, 0n])
})

test('database.queries gives a server without a statement all of its energy', () => {
  const { queries, other, rest } = queryShares(
    { statements: [], other_ms: 0 },
    nj(5n),
    NJ_PER_CPU_S,
  )
  assert.deepEqual([queries, other, rest], [[], 0n, 5n])
})
