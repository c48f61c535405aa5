import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '#base/clock.ts'
import type { Queryable, Row } from '#state/connect.ts'
import { createPayers } from './payers.ts'

const ACCOUNT = { env: 'live', funded: true }
const clock = { wallMs: () => 0, monotonicMs: () => 0 } as Clock

/** A state that answers when the test says so, and counts what it is asked. */
function heldState() {
  const asked: unknown[] = []
  const waiting: PromiseWithResolvers<Row[]>[] = []
  const state = {
    async query(_text: string, [account]: unknown[]) {
      asked.push(account)
      const held = Promise.withResolvers<Row[]>()
      waiting.push(held)
      return { rows: await held.promise, rowCount: 1 }
    },
  } as unknown as Queryable
  return { state, asked, waiting }
}

test('payerOf() asks the state once for an account, however many wait', async () => {
  const { state, asked, waiting } = heldState()
  const { payerOf } = createPayers({ state, clock })
  const charges = Array.from({ length: 500 }, (_, index) => payerOf(`acct_${index % 2}`))
  assert.equal(asked.length, 2)
  for (const { resolve } of waiting) resolve([ACCOUNT])
  const payers = await Promise.all(charges)
  assert.deepEqual(payers.slice(0, 2), [
    { account: 'acct_0', ...ACCOUNT },
    { account: 'acct_1', ...ACCOUNT },
  ])
  assert.equal(payerOf('acct_0'), payers[498])
})

test('payerOf() asks again after a look-up that failed', async () => {
  const { state, asked, waiting } = heldState()
  const { payerOf } = createPayers({ state, clock })
  const charges = [payerOf('acct_0'), payerOf('acct_0')]
  waiting[0]?.reject(new Error('the state is away'))
  for (const charge of await Promise.allSettled(charges)) assert.equal(charge.status, 'rejected')
  const again = payerOf('acct_0')
  waiting[1]?.resolve([])
  await assert.rejects(async () => await again, { code: 'not_found' })
  assert.equal(asked.length, 2)
})
