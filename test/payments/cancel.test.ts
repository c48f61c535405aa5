// A payer gives a payment up, and may have paid it meanwhile: the processor decides, and no money is lost.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { topupReply } from '#contract/payments/payments.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, total, walkLedger, type Answer, type Payer } from './client.ts'
import {
  addCard,
  balanceOf,
  CARDS,
  DOLLAR,
  eventOf,
  paid,
  paymentFaults,
  processor,
  processorAnswers,
  settled,
  tell,
  topUp,
  until,
  withoutWebhooks,
} from './processor.ts'

product(CARDS)

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
})

const cancel = (payer: Payer, id: string) => payer.call('DELETE', `/v1/topups/${id}`)
const outcomeOf = ({ status, json }: Answer) => [status, json['title'] ?? json['status']]
const confirm = (url: string | null | undefined) => processor(ergon, 'GET', url ?? '')

/** A payer whose bank asks for a confirmation of each payment. */
async function askedPayer(): Promise<Payer> {
  const payer = await newPayer(ergon)
  const body = { type: 'card', token: 'pm_card_authenticationRequired' }
  const { json } = await payer.call('POST', '/v1/payment-methods', body)
  await confirm((json['action'] as { url: string }).url)
  await until(async () => {
    const list = (await payer.call('GET', '/v1/payment-methods')).json['data']
    return (list as { status: string }[])[0]?.status === 'active'
  })
  return payer
}

const asked = async (payer: Payer) =>
  settled(payer, (await topUp(payer, { amount: '7.00' })).json['id'], 'requires_action')

async function audited(payer: Payer): Promise<string[]> {
  const { json } = await payer.call('GET', '/v1/audit?action=topup.cancel')
  return (json['data'] as { target: string }[]).map(({ target }) => target)
}

test('topup.cancel voids a payment at the processor: the bank cannot confirm it any more', async () => {
  const payer = await askedPayer()
  const { id, action } = await asked(payer)
  const stranger = await newPayer(ergon)
  assert.deepEqual(outcomeOf(await cancel(stranger, id)), [404, 'topup_not_found'])
  const given = await cancel(payer, id)
  assert.deepEqual(outcomeOf(given), [200, 'voided'], given.text)
  assert.equal(topupReply.parse(given.json).action, null)
  assert.deepEqual(outcomeOf(await cancel(payer, id)), [200, 'voided'])
  await assert.rejects(confirm(action?.url), /status of canceled/)
  assert.deepEqual((await walkLedger(payer, 'kind=topup')).entries, [])
  assert.deepEqual(await audited(payer), [id])
})

test('topup.cancel refuses a payment that has ended, or that the processor has not answered', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const { id } = await paid(payer, { amount: '2.00' })
  const refused = [409, 'topup_not_cancelable']
  assert.deepEqual(outcomeOf(await cancel(payer, id)), refused)
  const [unsent] = await ergon.sql<{ id: string }>(
    `insert into payments (id, account, processor, kind, amount_pusd, state, created_at, changed_at)
     values (new_id('pay', now()), $1, 'card-test', 'topup', 1, 'created', now(), now()) returning id`,
    [payer.account],
  )
  const unsentAnswer = await cancel(payer, unsent?.id ?? '')
  assert.deepEqual(outcomeOf(unsentAnswer), refused)
  assert.match(unsentAnswer.text, /has not answered yet/)
  await ergon.sql('delete from payments where id = $1', [unsent?.id])
  assert.deepEqual(await audited(payer), [])
})

test('a payment that was confirmed before topup.cancel is balance at once, without its webhook', async () => {
  const payer = await askedPayer()
  const { id, action } = await asked(payer)
  const answer = await withoutWebhooks(ergon, async () => {
    await confirm(action?.url)
    return await cancel(payer, id)
  })
  assert.deepEqual(outcomeOf(answer), [409, 'topup_not_cancelable'])
  assert.match(answer.text, /the payment is captured/)
  assert.deepEqual(await audited(payer), [], 'it was not canceled')
  assert.ok((await balanceOf(payer)) > 6n * DOLLAR)
  const late = await tell(ergon, await eventOf(ergon, id, 'payment_intent.succeeded'))
  assert.match(late.text, /known|ignored/)
  assert.equal(total((await walkLedger(payer, 'kind=topup')).entries), 7n * DOLLAR)
})

test('the webhook of a success that comes after topup.cancel brings its money', async () => {
  const payer = await askedPayer()
  const { id } = await asked(payer)
  await cancel(payer, id)
  const canceled = await eventOf(ergon, id, 'payment_intent.canceled')
  const succeeded = {
    ...canceled,
    id: `evt_after_${id}`,
    type: 'payment_intent.succeeded',
    data: { object: { ...canceled.data.object, status: 'succeeded', amount_received: 700 } },
  }
  assert.match((await tell(ergon, succeeded)).text, /applied/)
  await settled(payer, id, 'captured')
  assert.equal(total((await walkLedger(payer, 'kind=topup')).entries), 7n * DOLLAR)
})

test('confirmations and topup.cancel at once: each payment is voided or paid, never both', async () => {
  const payer = await askedPayer()
  const begun = await Promise.all(Array.from({ length: 5 }, () => asked(payer)))
  const answers = await Promise.all(
    begun.map(async ({ id, action }) => {
      const [answer, isPaid] = await Promise.all([
        cancel(payer, id),
        confirm(action?.url).then(
          () => true,
          () => false,
        ),
      ])
      await settled(payer, id, isPaid ? 'captured' : 'voided')
      assert.deepEqual(
        outcomeOf(answer),
        isPaid ? [409, 'topup_not_cancelable'] : [200, 'voided'],
        answer.text,
      )
      return isPaid
    }),
  )
  const { entries } = await walkLedger(payer, 'kind=topup')
  assert.equal(total(entries), BigInt(answers.filter(Boolean).length) * 7n * DOLLAR)
})

test('the books add up after cancelled top-ups', async () => {
  assert.deepEqual(await paymentFaults(ergon), [])
})
