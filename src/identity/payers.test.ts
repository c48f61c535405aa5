import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '#base/clock.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { createPayers } from './payers.ts'

const ACCOUNT = { env: 'live', funded: true }
const clock = { wallMs: () => 0, monotonicMs: () => 0 } as Clock

/** A state that answers when the test says so, and keeps what it is asked. */
function heldState() {
  const asked: string[][] = []
  const waiting: PromiseWithResolvers<void>[] = []
  const state = {
    async query(_text: string, [accounts]: [string[]]) {
      asked.push(accounts)
      const held = Promise.withResolvers<void>()
      waiting.push(held)
      await held.promise
      const rows: SqlRow[] = accounts
        .filter((account) => account !== 'acct_none')
        .map((account) => ({ account, ...ACCOUNT }))
      return { rows, rowCount: rows.length }
    },
  } as unknown as Queryable
  return { state, asked, waiting }
}

/** The state has received the query for all concurrent requests. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('payerOf() asks the state once for all who ask at once, however many wait', async () => {
  const { state, asked, waiting } = heldState()
  const { payerOf } = createPayers({ state, clock })
  const charges = Array.from({ length: 1000 }, (_, index) => payerOf(`acct_${index % 500}`))
  await turn()
  assert.deepEqual(
    asked.map(({ length }) => length),
    [500],
  )
  // A request for the same account joins the running query; other accounts make the next query.
  charges.push(payerOf('acct_7'), payerOf('acct_500'))
  await turn()
  assert.deepEqual(asked.slice(1), [['acct_500']])
  for (const { resolve } of waiting) resolve()
  const payers = await Promise.all(charges)
  assert.deepEqual(payers.slice(0, 2), [
    { account: 'acct_0', ...ACCOUNT },
    { account: 'acct_1', ...ACCOUNT },
  ])
  assert.equal(payerOf('acct_0'), payers[500])
  assert.equal(asked.length, 2)
})

test('payerOf() asks for a thousand accounts at once at most', async () => {
  const { state, asked, waiting } = heldState()
  const { payerOf } = createPayers({ state, clock })
  const charges = Array.from({ length: 2500 }, (_, index) => payerOf(`acct_${index}`))
  await turn()
  assert.deepEqual(
    asked.map(({ length }) => length),
    [1000, 1000, 500],
  )
  for (const { resolve } of waiting) resolve()
  const payers = await Promise.all(charges)
  assert.equal(payers[2499]?.account, 'acct_2499')
})

test('payerOf() asks again after a look-up that failed, and an account that is not there fails alone', async () => {
  const { state, asked, waiting } = heldState()
  const { payerOf } = createPayers({ state, clock })
  const charges = [payerOf('acct_0'), payerOf('acct_0')]
  await turn()
  waiting[0]?.reject(new Error('the state is away'))
  for (const charge of await Promise.allSettled(charges)) assert.equal(charge.status, 'rejected')
  const again = Promise.allSettled([payerOf('acct_none'), payerOf('acct_0')])
  await turn()
  waiting[1]?.resolve()
  const [none, found] = await again
  assert.equal(none.status === 'rejected' && none.reason.code, 'not_found')
  assert.equal(found.status === 'fulfilled' && found.value.account, 'acct_0')
  assert.equal(asked.length, 2)
})

test('exists() asks with all others: the grants of a list are one query', async () => {
  const { state, asked, waiting } = heldState()
  const { exists } = createPayers({ state, clock })
  const found = Promise.all(['acct_0', 'acct_none', 'acct_1'].map(exists))
  await turn()
  waiting[0]?.resolve()
  assert.deepEqual(await found, [true, false, true])
  assert.equal(asked.length, 1)
})
