// Money by card: the real SDK, the embedded processor, and the ledger, which moves by signed webhooks alone.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  methodList,
  methodReply,
  refundReply,
  topupList,
  topupReply,
} from '#contract/payments/payments.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, total, walkLedger, type Answer, type Payer } from './client.ts'
import {
  addCard,
  balanceOf,
  CARDS,
  CENT,
  DOLLAR,
  paid,
  paymentFaults,
  processor,
  processorAnswers,
  sdkOf,
  settled,
  topUp,
  until,
} from './processor.ts'

product(CARDS)

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
})
const codeOf = ({ json }: Answer) => json['title']

test('a card pays into the balance; the answer to the call moves nothing, the webhook does', async () => {
  const payer = await newPayer(ergon)
  const method = await addCard(payer)
  const made = await topUp(payer, { amount: '20.00', unit: 'tUSD', payment_method: method })
  assert.equal(made.status, 201, made.text)
  assert.equal(topupReply.parse(made.json).unit, 'tUSD')
  const topup = await settled(payer, made.json['id'], 'captured')
  assert.equal(topup.amount_pusd, String(20n * DOLLAR))
  const { entries } = await walkLedger(payer, `id=${topup.id}`)
  assert.deepEqual(
    entries.map(({ kind, amount_pusd: amount }) => [kind, amount]),
    [['topup', String(20n * DOLLAR)]],
  )
  const list = topupList.parse((await payer.call('GET', '/v1/topups?limit=1')).json)
  assert.deepEqual([list.data[0]?.id, list.has_more], [topup.id, false])
  const other = await newPayer(ergon)
  assert.equal((await other.call('GET', `/v1/topups/${topup.id}`)).json['title'], 'topup_not_found')
})

test('a card number goes to the processor alone, and its token here', async () => {
  const payer = await newPayer(ergon)
  const sdk = sdkOf(ergon)
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvc: '123' }
  const { id: token } = await sdk.paymentMethods.create({ type: 'card', card })
  await addCard(payer, token)
  await paid(payer, { amount: '1.00' })
  const cards = methodList.parse((await payer.call('GET', '/v1/payment-methods')).json)
  assert.equal(cards.data[0]?.label, 'visa ending in 4242')
  const dump = await ergon.sql(
    `select (select json_agg(m)::text from payment_methods m) || (select json_agg(p)::text from payments p)
       || (select json_agg(o)::text from test_processor_objects o) as all`,
  )
  assert.ok(!JSON.stringify(dump).includes(card.number))
  await assert.rejects(
    sdk.paymentMethods.create({ type: 'card', card: { ...card, number: '4111111111111111' } }),
    /no real card/,
  )
})

const REFUSED_AT_SET_UP = [
  ['pm_card_visa_chargeDeclined', 'generic_decline'],
  ['pm_card_visa_chargeDeclinedInsufficientFunds', 'insufficient_funds'],
  ['pm_card_chargeDeclinedExpiredCard', 'expired_card'],
  ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc'],
] as const

test('a card that the bank refuses is not added', async () => {
  const payer = await newPayer(ergon)
  for (const [token, reason] of REFUSED_AT_SET_UP) {
    const added = await payer.call('POST', '/v1/payment-methods', { type: 'card', token })
    assert.deepEqual(
      [added.status, codeOf(added), added.json['reason']],
      [402, 'payment_declined', reason],
    )
    assert.equal(added.headers.get('x-should-retry'), 'false')
  }
  const unknown = await payer.call('POST', '/v1/payment-methods', {
    type: 'card',
    token: 'pm_none',
  })
  assert.equal(codeOf(unknown), 'payment_declined')
  assert.match(
    unknown.text,
    /Could not add the card: the processor does not know it \(resource_missing\)/,
  )
  assert.deepEqual((await payer.call('GET', '/v1/payment-methods')).json['data'], [])
  const none = await topUp(payer, { amount: '5.00' })
  assert.deepEqual([none.status, codeOf(none)], [404, 'payment_method_not_found'])
})

test('a payment that the bank refuses changes nothing and says why', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer, 'pm_card_chargeCustomerFail')
  const made = await topUp(payer, { amount: '5.00' })
  assert.deepEqual(
    [made.status, codeOf(made), made.json['reason']],
    [402, 'payment_declined', 'generic_decline'],
  )
  assert.match(made.text, /Could not take the payment: the bank declined it \(generic_decline\)/)
  const topup = await settled(payer, made.json['topup'], 'failed')
  assert.equal(topup.reason, 'generic_decline')
  const back = await refund(payer, topup.id)
  assert.deepEqual([back.status, codeOf(back)], [409, 'refund_exceeds'])
  assert.match(back.text, /Could not give back a part of pay_\w+: the payment is failed/)
  assert.equal(await balanceOf(payer), 0n)
})

test('a payer who must confirm with the bank is sent there, and pays or not', async () => {
  const payer = await newPayer(ergon)
  const added = await payer.call('POST', '/v1/payment-methods', {
    type: 'card',
    token: 'pm_card_authenticationRequired',
  })
  const { action, status } = methodReply.parse(added.json)
  assert.equal(status, 'pending')
  await processor(ergon, 'GET', action?.url ?? '')
  await until(async () => {
    const { json } = await payer.call('GET', '/v1/payment-methods')
    return (json['data'] as { status: string }[])[0]?.status === 'active'
  })
  const asked = await topUp(payer, { amount: '7.50' })
  const waiting = await settled(payer, asked.json['id'], 'requires_action')
  assert.equal(await balanceOf(payer), 0n)
  await processor(ergon, 'GET', waiting.action?.url ?? '')
  assert.equal((await settled(payer, waiting.id, 'captured')).action, null)
  const refused = await settled(
    payer,
    (await topUp(payer, { amount: '9.00' })).json['id'],
    'requires_action',
  )
  assert.match(refused.action?.url ?? '', /^http:\/\/127.0.0.1:/)
  await processor(ergon, 'GET', `${refused.action?.url ?? ''}?outcome=refuse`)
  await settled(payer, refused.id, 'voided')
  const { sums } = await walkLedger(payer, 'kind=topup')
  assert.equal(sums?.in_pusd, String(750n * CENT))
})

const refund = (payer: Payer, id: string, body: object = {}) =>
  payer.call('POST', `/v1/topups/${id}/refunds`, body)

test('money that is not spent is given back, once, and not more', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const topup = await paid(payer, { amount: '10.00' })
  await payer.call('GET', '/v1/models')
  const part = await refund(payer, topup.id, { amount: '4.00' })
  assert.equal(part.status, 201, part.text)
  assert.equal(refundReply.parse(part.json).amount_pusd, String(4n * DOLLAR))
  await until(
    async () => (await settled(payer, topup.id, 'captured')).refunded_pusd === String(4n * DOLLAR),
  )
  const more = await refund(payer, topup.id, { amount: '6.00' })
  assert.deepEqual([more.status, codeOf(more)], [409, 'refund_exceeds'])
  assert.match(more.text, /Could not give back 6 tUSD of pay_\w+: 5\.99 are left/)
  const rest = await refund(payer, topup.id)
  // The read above was charged: the last cent stays.
  assert.equal(rest.json['amount_pusd'], String(599n * CENT), rest.text)
  const none = await refund(payer, topup.id)
  assert.match(none.text, /Could not give back a part of pay_\w+: 0 are left/)
  const { entries } = await walkLedger(payer, `id=${String(rest.json['id'])}`)
  assert.equal(total(entries), -599n * CENT)
  assert.equal(total((await walkLedger(payer, `id=${topup.id}`)).entries), CENT)
  assert.ok((await balanceOf(payer)) < CENT)
  const other = await newPayer(ergon)
  assert.equal((await refund(other, topup.id)).status, 404)
})

test('the money of a refund that the bank does not take comes back', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer, 'pm_card_refundFail')
  const topup = await paid(payer, { amount: '3.00' })
  const asked = await refund(payer, topup.id, { amount: '2.00' })
  assert.equal(asked.status, 201)
  await until(async () => (await balanceOf(payer)) > 299n * CENT)
  const kinds = (await walkLedger(payer, `id=${topup.id}`)).entries.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['refund_returned', 'refund', 'topup'])
  assert.equal((await settled(payer, topup.id, 'captured')).refunded_pusd, '0')
})

test('a disputed payment is taken back; the spent part is the operator’s loss until the dispute is won', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer, 'pm_card_createDispute')
  const made = await topUp(payer, { amount: '2.00' })
  const topup = await settled(payer, made.json['id'], 'disputed')
  await until(async () => (await balanceOf(payer)) === 0n)
  const [alarm] = await ergon.sql<{ detail: { payment: string } }>(
    "select detail from alarms where kind = 'payment_disputed' and detail ->> 'payment' = $1",
    [topup.id],
  )
  assert.equal(alarm?.detail.payment, topup.id)
  // Reads are answered without a balance, and changes are not.
  const ask = () => payer.call('PATCH', '/v1/webhooks/whk_none', {})
  // A gateway hears by its next tick that the balance is gone.
  await until(async () => (await ask()).status === 402)
  const refused = await ask()
  assert.equal(codeOf(refused), 'balance_depleted')
  assert.equal(refused.json['top_up_url'], `http://portal.localhost:${ergon.port + 1}/balance`)

  const [payment] = await ergon.sql('select reference from payments where id = $1', [topup.id])
  const disputes = await sdkOf(ergon).disputes.list({
    payment_intent: payment?.['reference'] ?? '',
  })
  const dispute = disputes.data[0]?.id ?? ''
  await processor(ergon, 'POST', `/test/disputes/${dispute}`, 'outcome=won')
  await settled(payer, topup.id, 'captured')
  // Reads were charged meanwhile.
  assert.ok((await balanceOf(payer)) > 199n * CENT)
})

/** The processor's name of a payment. */
const referenceOf = async (id: string) =>
  (await ergon.sql<{ reference: string }>('select reference from payments where id = $1', [id]))[0]
    ?.reference ?? ''
const events = async (type: string, reference: string) =>
  await ergon.sql(
    `select from test_processor_events where body ->> 'type' = $1 and delivered_at is not null
       and body -> 'data' -> 'object' ->> 'payment_intent' = $2`,
    [type, reference],
  )

test('a refund made on the pages of the processor has three events and is taken once', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const { id } = await paid(payer, { amount: '20.00' })
  const reference = await referenceOf(id)
  const { id: made } = await sdkOf(ergon).refunds.create({ payment_intent: reference, amount: 500 })
  await until(async () => (await events('charge.refund.updated', reference)).length === 1)
  const { entries } = await walkLedger(payer, `id=${made}`)
  assert.equal(total(entries), -5n * DOLLAR)
  assert.equal((await settled(payer, id, 'captured')).refunded_pusd, String(5n * DOLLAR))
  assert.ok((await balanceOf(payer)) > 1499n * CENT)
})

test('an inquiry of the bank takes nothing', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer, 'pm_card_createDisputeInquiry')
  const { id } = await paid(payer, { amount: '2.00' })
  const reference = await referenceOf(id)
  await until(async () => (await events('charge.dispute.created', reference)).length === 1)
  await settled(payer, id, 'captured')
  assert.ok((await balanceOf(payer)) > 199n * CENT)
})

test('accounts of live money cannot use the test processor, and scopes are kept', async () => {
  const live = await newPayer(ergon, { env: 'live' })
  const takesCards = async (payer: Payer) =>
    (await payer.call('GET', '/v1/payment-methods')).json['takes_cards']
  assert.deepEqual([await takesCards(live), await takesCards(await newPayer(ergon))], [false, true])
  const added = await live.call('POST', '/v1/payment-methods', {
    type: 'card',
    token: 'pm_card_visa',
  })
  assert.deepEqual([added.status, codeOf(added)], [409, 'payments_off'])
  const paying = await topUp(live, { amount: '5.00' })
  assert.deepEqual([paying.status, codeOf(paying)], [409, 'payments_off'])
  const reader = await newPayer(ergon, { scope: 'deploy' })
  assert.equal(codeOf(await topUp(reader, { amount: '5.00' })), 'scope_missing')
  const payer = await newPayer(ergon)
  const wrong = await topUp(payer, { amount: '5.00', unit: 'USD' })
  assert.deepEqual([wrong.status, (wrong.json['error'] as { param: string }).param], [400, 'unit'])
})

test('a repeated request with its key pays once; payments under way are few', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const once = { 'idempotency-key': 'top-up-1' }
  const first = await payer.call('POST', '/v1/topups', { amount: '2.00' }, once)
  const again = await payer.call('POST', '/v1/topups', { amount: '2.00' }, once)
  assert.deepEqual(
    [again.json['id'], again.headers.get('idempotency-replayed')],
    [first.json['id'], 'true'],
  )
  await settled(payer, first.json['id'], 'captured')
  const { sums } = await walkLedger(payer, 'kind=topup')
  assert.equal(sums?.in_pusd, String(2n * DOLLAR))
  await ergon.sql(
    `insert into payments (id, account, processor, kind, amount_pusd, state, created_at, changed_at)
     select new_id('pay', now()), $1, 'none', 'topup', 1, 'created', now(), now() from generate_series(1, 5)`,
    [payer.account],
  )
  assert.equal(codeOf(await topUp(payer, { amount: '2.00' })), 'too_many_payments')
})

test('a removed card is removed at the processor, and pays no more', async () => {
  const payer = await newPayer(ergon)
  const id = await addCard(payer)
  const [card] = await ergon.sql('select reference from payment_methods where id = $1', [id])
  assert.equal((await payer.call('DELETE', `/v1/payment-methods/${id}`)).status, 200)
  assert.equal((await payer.call('DELETE', `/v1/payment-methods/${id}`)).status, 404)
  const { customer } = await sdkOf(ergon).paymentMethods.retrieve(card?.['reference'] ?? '')
  assert.equal(customer, null)
  assert.equal(
    codeOf(await topUp(payer, { amount: '2.00', payment_method: id })),
    'payment_method_not_found',
  )
})

test('a card that the processor did not let go is kept, and can be removed again', async () => {
  const payer = await newPayer(ergon)
  const id = await addCard(payer)
  const setBody = async (body: string) =>
    ergon.sql(
      `update test_processor_objects o set body = ${body} from payment_methods m
       where m.id = $1 and o.id = m.reference`,
      [id],
    )
  await setBody(`jsonb_build_object('broken', o.body)`)
  const refused = await payer.call('DELETE', `/v1/payment-methods/${id}`)
  assert.deepEqual([refused.status, codeOf(refused)], [503, 'payment_processor_away'])
  await setBody(`o.body -> 'broken'`)
  assert.equal((await payer.call('DELETE', `/v1/payment-methods/${id}`)).status, 200)
})

test('the books add up after payments by card', async () => {
  assert.deepEqual(await paymentFaults(ergon), [])
})
