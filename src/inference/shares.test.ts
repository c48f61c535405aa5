import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createShares } from './shares.ts'

it('enter() gives an account what is still free, so that others find some', () => {
  const shares = createShares(8)
  const taken = (account: string) => {
    for (let count = 0; count < 100; count++)
      try {
        shares.enter('cell', account)
      } catch (error) {
        return [count, (error as { code: string }).code]
      }
    return undefined
  }
  assert.deepEqual(taken('first'), [4, 'too_many_requests'])
  assert.deepEqual(taken('second'), [2, 'too_many_requests'])
  assert.deepEqual(taken('third'), [1, 'too_many_requests'])
  assert.deepEqual(taken('fourth'), [1, 'overloaded'])
  assert.deepEqual(taken('fifth'), [0, 'overloaded'])
  // Another provider has calls of its own.
  shares.enter('other', 'first')
})

it('enter() counts a call until it is left, once', () => {
  const shares = createShares(2)
  const leave = shares.enter('cell', 'one')
  assert.throws(() => shares.enter('cell', 'one'), { code: 'too_many_requests', status: 429 })
  const leaveOther = shares.enter('cell', 'two')
  leave()
  leave()
  assert.throws(() => shares.enter('cell', 'two'), { code: 'too_many_requests' })
  leaveOther()
  shares.enter('cell', 'one')()
  shares.enter('cell', 'two')
})
