import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAccountChange } from './payments.ts'

const change = (amount: string, month_max: string) => ({
  auto_topup: { amount, below: '5.00', month_max },
})

test('parseAccountChange() refuses an automatic top-up that no month has room for', () => {
  assert.throws(() => parseAccountChange(change('20', '19.99')), {
    code: 'invalid_request',
    message: 'Could not accept auto_topup.month_max: must be amount or more',
    param: 'auto_topup.month_max',
  })
  assert.doesNotThrow(() => parseAccountChange(change('20', '20.00')))
  // An amount that is none is what the caller hears of.
  assert.throws(() => parseAccountChange(change('much', '10')), { param: 'auto_topup.amount' })
})
