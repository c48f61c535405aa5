import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGES } from '#console/pages/list.ts'
import { restOf } from './rest-of.ts'

test('the circuits of the board and the rest add up to the total', () => {
  const by = { inference: 5n, workloads: 15n, databases: 63n, usage: 2n, portal: 3n, receipts: 1n }
  const beside = PAGES.map(({ service }) => by[service as keyof typeof by] ?? 0n)
  const rest = restOf({ total: 89n, by })
  assert.equal(rest, 6n)
  assert.equal(
    beside.reduce((sum, nj) => sum + nj, rest),
    89n,
  )
})
