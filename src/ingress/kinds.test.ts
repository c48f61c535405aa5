// Refusals of a kind that is no function: by the codes of its row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { refusalLine, suspendedLine } from './awake/awake.ts'
import { rulesOfKind, ROUTED_KINDS } from './kinds.ts'
import { createTurns } from './turns.ts'

const named = { kind: 'workload', name: 'api' } as const

test('a workload is refused with codes of its own', async () => {
  const unready = fault('workload_failed', 'Could not start the workload: it ends')
  assert.deepEqual(refusalLine(unready, named), {
    refused: 'workload_failed',
    message: 'Could not run the workload "api": it ends, or does not become ready',
  })
  const budget = suspendedLine(named, 'budget')
  assert.equal(budget.refused, 'workload_budget_exhausted')
  assert.equal(rulesOfKind('workload').refusals.timeout, 'workload_timeout')
  const turns = createTurns()
  const staying = new AbortController()
  const route = {
    id: 'wl_a',
    account: 'acct_a',
    kind: 'workload',
    concurrency: 1,
    scale: null,
  } as const
  await turns.take(route, staying)
  const leaving = new AbortController()
  const waiting = Array.from({ length: 200 }, () => turns.take(route, leaving))
  await assert.rejects(turns.take(route, staying), { code: 'workload_busy', status: 503 })
  leaving.abort()
  await Promise.allSettled(waiting)
})

test('no two kinds share a code', () => {
  const codes = Object.values(ROUTED_KINDS).flatMap(({ refusals }) => Object.values(refusals))
  assert.equal(new Set(codes).size, codes.length)
})
