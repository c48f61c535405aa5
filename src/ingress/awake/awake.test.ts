import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault, type Code } from '#contract/errors.ts'
import {
  errorOfLine,
  refusalLine,
  suspendedLine,
  unlive,
  unstarted,
  type RefusedLine,
} from './awake.ts'

const HELLO = { kind: 'function', name: 'hello' } as const
const refusalOf = (code: Code) => refusalLine(fault(code, 'Could not: x'), HELLO)

test('faults of charging and drivers become a refusal that names the function', () => {
  const codes = {
    budget_exhausted: 'function_budget_exhausted',
    balance_depleted: 'balance_depleted',
    free_tier_exceeded: 'balance_depleted',
    state_unavailable: 'function_starting',
    function_failed: 'function_failed',
  } as const
  for (const [thrown, refused] of Object.entries(codes)) {
    const line = refusalOf(thrown as keyof typeof codes)
    assert.ok(line !== undefined)
    assert.equal(line.refused, refused)
    assert.match(line.message, /the function "hello"/)
  }
  assert.equal(refusalOf('internal'), undefined)
  assert.equal(refusalLine(new Error('no room'), HELLO), undefined)
})

test('a workload whose image cannot be had is refused by that, and no fault of the service', () => {
  const workload = { kind: 'workload', name: 'api' } as const
  assert.deepEqual(refusalLine(fault('registry_unreachable', 'x'), workload), {
    refused: 'workload_starting',
    message: 'Could not run the workload "api": its image cannot be pulled now',
    retryAfterS: 2,
  })
  assert.deepEqual(
    refusalLine(fault('image_not_found', 'Could not find the image "x"'), workload),
    {
      refused: 'workload_failed',
      message: 'Could not run the workload "api": Could not find the image "x"',
    },
  )
})

test('a wake that is held up says when to come back, in the time of its own where it has one', () => {
  const workload = { kind: 'workload', name: 'api' } as const
  const againOf = (more: object) =>
    refusalLine(fault('workload_busy', 'Could not', more), workload)?.retryAfterS
  assert.deepEqual([againOf({ retryAfterS: 15 }), againOf({})], [15, 2])
})

test('a suspended function says why, and one that starts says when to come back', () => {
  const errorOf = (line: RefusedLine) => {
    const { code, status, retryAfterS } = errorOfLine(line)
    return [code, status, retryAfterS]
  }
  assert.deepEqual(errorOf(suspendedLine(HELLO, 'balance')), ['balance_depleted', 402, undefined])
  // Its owner cannot resume it: the advice is that of the account.
  assert.equal(errorOf(suspendedLine(HELLO, 'suspended'))[0], 'account_suspended')
  assert.equal(errorOf(suspendedLine(HELLO, 'deleting'))[0], 'account_deleting')
  assert.deepEqual(errorOf(suspendedLine(HELLO, null)), ['function_suspended', 503, undefined])
  assert.deepEqual(errorOf(unstarted(HELLO)), ['function_starting', 503, 2])
  assert.deepEqual(errorOf(unlive(HELLO)), ['function_starting', 503, 2])
  assert.match(unlive(HELLO).message, /no version of it is live yet/)
  assert.deepEqual(refusalLine(fault('state_unavailable', 'Could not: x'), HELLO)?.retryAfterS, 2)
})
