import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault, type Code } from '#contract/errors.ts'
import { createRoutedCounter } from './routed-counts.ts'

const failed = (kind: 'function' | 'workload', code: Code, isLate = false) => {
  const counter = createRoutedCounter()
  counter.ended({ account: 'acct_a', kind }, { error: fault(code, 'x'), isLate })
  return counter.take().failures === 1
}

test('requests are counted together and by account, whose counts begin anew when they are taken', () => {
  const counter = createRoutedCounter()
  const ofA = { account: 'acct_a', kind: 'function' } as const
  counter.ended(ofA)
  counter.ended(ofA, { error: new TypeError('ours'), isLate: false })
  counter.ended({ ...ofA, account: 'acct_b' })
  assert.deepEqual(counter.take(), {
    requests: 3,
    failures: 1,
    accounts: [
      ['acct_a', { requests: 2, failures: 1 }],
      ['acct_b', { requests: 1, failures: 0 }],
    ],
  })
  counter.ended(ofA)
  assert.deepEqual(counter.take(), {
    requests: 4,
    failures: 1,
    accounts: [['acct_a', { requests: 1, failures: 0 }]],
  })
})

test('acts of the code of an account, and decisions of its owner, are no failures of the service', () => {
  for (const what of ['failed', 'crashed', 'timeout', 'busy', 'suspended'] as const)
    assert.deepEqual(
      [failed('function', `function_${what}`), failed('workload', `workload_${what}`)],
      [false, false],
      what,
    )
  assert.equal(failed('function', 'malformed_request'), false)
})

test('a state that is away, and a function that does not start in time, are failures of the service', () => {
  assert.equal(failed('function', 'state_unavailable'), true)
  assert.equal(failed('function', 'function_starting', true), true)
  assert.equal(failed('function', 'function_starting'), false, 'the function is made or replaced')
  assert.equal(failed('workload', 'workload_starting', true), false)
})
