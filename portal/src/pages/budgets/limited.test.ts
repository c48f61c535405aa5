// Each kind that a budget can limit is offered, and nothing that has ended.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitedOf } from './limited.ts'

const row = (id: string, name: string, energy_budget: string | null = null) => ({
  id,
  name,
  energy_budget,
})

test('limitedOf() offers databases, functions, workloads and valid tokens', () => {
  const limited = limitedOf({
    tokens: [
      { ...row('tok_1', 'laptop'), status: 'valid', hint: 'svc_ab' },
      { ...row('tok_2', 'old'), status: 'revoked', hint: 'svc_cd' },
    ],
    databases: [row('db_1', 'notes', '5 kJ/day')],
    functions: [row('fn_1', 'hello')],
    workloads: [row('wl_1', 'web')],
  })
  assert.deepEqual(
    limited.map(({ title, budget }) => [title, budget]),
    [
      ['notes, a database', '5 kJ/day'],
      ['hello, a function', null],
      ['web, a workload', null],
      ['laptop, a token (svc_ab…)', null],
    ],
  )
})

test('limitedOf() offers nothing of an account that has nothing', () => {
  assert.deepEqual(limitedOf({ tokens: [], databases: [], functions: [], workloads: [] }), [])
})
