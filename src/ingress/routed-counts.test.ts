import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault, type Code } from '#contract/errors.ts'
import { errorOfLine, refusalLine, unlive, unstarted } from './awake/awake.ts'
import { createRoutedCounter } from './routed-counts.ts'
import { ServiceStartFault } from './start-failure.ts'

const counts = (kind: 'function' | 'workload', error: unknown) => {
  const counter = createRoutedCounter()
  counter.ended({ kind }, error)
  return counter.read().failures === 1
}
const failed = (kind: 'function' | 'workload', code: Code) => counts(kind, fault(code, 'x'))

test('requests of routes are counted, and faults of the service among them', () => {
  const counter = createRoutedCounter()
  counter.ended({ kind: 'function' })
  counter.ended({ kind: 'function' }, new TypeError('ours'))
  assert.deepEqual(counter.read(), { requests: 2, failures: 1 })
  counter.ended({ kind: 'workload' })
  assert.deepEqual(counter.read(), { requests: 3, failures: 1 })
})

test('acts of the code of an account, and decisions of its owner, are no failures of the service', () => {
  for (const what of ['failed', 'crashed', 'timeout', 'busy', 'suspended', 'starting'] as const)
    assert.deepEqual(
      [failed('function', `function_${what}`), failed('workload', `workload_${what}`)],
      [false, false],
      what,
    )
  assert.equal(failed('function', 'malformed_request'), false)
})

test('a first version that still loads or hangs is no failure of the service, an energy that cannot be charged is', () => {
  for (const kind of ['function', 'workload'] as const) {
    const named = { kind, name: 'hello' }
    for (const line of [unlive(named), unstarted(named)])
      assert.equal(counts(kind, errorOfLine(line)), false, line.message)
    const line = refusalLine(fault('state_unavailable', 'x'), named)
    assert.equal(counts(kind, line && errorOfLine(line)), true)
  }
})

test('a state that is away, and a start that the service failed, are failures of the service', () => {
  assert.equal(failed('function', 'state_unavailable'), true)
  assert.equal(counts('function', new ServiceStartFault('function_starting', 'x', 2)), true)
})
