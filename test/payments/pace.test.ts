// A stolen list of card numbers is tried out where nobody counts: new cards and refused payments have a pace.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { CARDS_PER_DAY_MAX, FAILURES_PER_DAY_MAX, METHODS_MAX } from '#payments/pace.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, type Answer, type Payer } from './client.ts'
import { addCard, CARDS, processorAnswers, topUp } from './processor.ts'

product(CARDS)

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
})

const newCard = (payer: Payer, token: string) =>
  payer.call('POST', '/v1/payment-methods', { type: 'card', token })

const codesOf = (answers: readonly Answer[]) =>
  [...Map.groupBy(answers, ({ status, json }) => String(json['title'] ?? status))]
    .map(([code, of]) => [code, of.length] as const)
    .toSorted()

function assertPaced({ status, json, headers }: Answer): void {
  assert.deepEqual([status, json['title']], [429, 'payment_pace_exceeded'])
  const waitS = Number(headers.get('retry-after'))
  assert.ok(waitS > 86_000 && waitS <= 86_400, `${waitS}`)
  assert.equal(headers.get('x-should-retry'), 'false')
}

test('cards that are added at once are no more than an account may have', async () => {
  const payer = await newPayer(ergon)
  const all = Array.from({ length: METHODS_MAX + 4 }, () => newCard(payer, 'pm_card_visa'))
  assert.deepEqual(codesOf(await Promise.all(all)), [
    ['201', METHODS_MAX],
    ['too_many_cards', 4],
  ])
})

test('cards that are refused count: after some a day no other is tried', async () => {
  const payer = await newPayer(ergon)
  const tried: Answer[] = []
  for (let nth = 0; nth < CARDS_PER_DAY_MAX; nth++)
    tried.push(await newCard(payer, 'pm_card_visa_chargeDeclined'))
  assert.deepEqual(codesOf(tried), [['payment_declined', CARDS_PER_DAY_MAX]])
  assertPaced(await newCard(payer, 'pm_card_visa'))
  await addCard(await newPayer(ergon))
})

test('payments that are refused count: after some a day no other is tried', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer, 'pm_card_chargeCustomerFail')
  const tried: Answer[] = []
  for (let nth = 0; nth < FAILURES_PER_DAY_MAX; nth++)
    tried.push(await topUp(payer, { amount: '5.00' }))
  assert.deepEqual(codesOf(tried), [['payment_declined', FAILURES_PER_DAY_MAX]])
  assertPaced(await topUp(payer, { amount: '5.00' }))
})

test('payments that are given up before they are paid count, and holds that are given back do not', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const insert = (liveUntil: string) =>
    ergon.sql(
      `insert into payments (id, account, processor, kind, amount_pusd, state, lives_until, created_at, changed_at)
       select new_id('pay', now()), $1, 'card-test', 'topup', 1, 'voided', ${liveUntil}, now(), now()
       from generate_series(1, ${FAILURES_PER_DAY_MAX})`,
      [payer.account],
    )
  await insert('now()')
  assert.equal((await topUp(payer, { amount: '5.00' })).status, 201)
  await insert('null')
  assertPaced(await topUp(payer, { amount: '5.00' }))
})
