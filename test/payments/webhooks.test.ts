// Webhooks of a processor, true and forged: signed, late, repeated, of another amount, lost, and found again by asking.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, type Payer } from './client.ts'
import {
  addCard,
  balanceOf,
  CARDS,
  DOLLAR,
  eventOf,
  paid,
  paymentFaults,
  processorAnswers,
  runTask,
  settled,
  tell,
  topUp,
  until,
  withoutWebhooks,
  type Told,
} from './processor.ts'

product(CARDS)

const PARALLEL = 20

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
})

/** The same event as new, with other members of its object. */
const changed = (event: Told, members: object, more: object = {}): Told => ({
  ...event,
  id: `evt_${Math.random().toString(16).slice(2)}`,
  ...more,
  data: { object: { ...event.data.object, ...members } },
})

const codeOf = (text: string) => (JSON.parse(text) as { title?: string }).title

async function paidOnce(): Promise<{ payer: Payer; id: string; event: Told }> {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const { id } = await paid(payer, { amount: '2.00' })
  return { payer, id, event: await eventOf(ergon, id, 'payment_intent.succeeded') }
}

test('a repeated webhook changes nothing, one after another and at once', async () => {
  const { payer, event } = await paidOnce()
  const before = await balanceOf(payer)
  const again = await tell(ergon, event)
  assert.deepEqual([again.status, again.text], [200, '{"outcomes":["known"]}'])
  const fresh = changed(event, {})
  const answers = await Promise.all(Array.from({ length: PARALLEL }, () => tell(ergon, fresh)))
  const outcomes = answers.map(({ text }) => text).toSorted()
  assert.equal(outcomes.filter((text) => text.includes('ignored')).length, 1)
  assert.equal(outcomes.filter((text) => text.includes('known')).length, PARALLEL - 1)
  assert.ok((await balanceOf(payer)) <= before)
})

test('a webhook that is forged, late, of other money or of no processor is refused', async () => {
  const { payer, event } = await paidOnce()
  const before = await balanceOf(payer)
  const more = changed(event, {})
  const now = Math.floor(Date.now() / 1000)
  const refusals: [string, Parameters<typeof tell>[1], Parameters<typeof tell>[2]][] = [
    ['webhook_forged', more, { secret: 'whsec_of_somebody_else' }],
    ['webhook_forged', more, { signature: '' }],
    ['webhook_forged', more, { signature: `t=${now},v1=${'0'.repeat(64)}` }],
    ['webhook_forged', more, { signature: 'nonsense' }],
    ['webhook_late', more, { seconds: now - 301 }],
    ['webhook_late', more, { seconds: now + 400 }],
    ['webhook_forged', changed(event, {}, { livemode: true }), {}],
    ['invalid_json', 'no JSON', {}],
    ['not_found', more, { name: 'card-live' }],
    ['body_too_large', ' '.repeat(300_000), {}],
  ]
  for (const [code, told, how] of refusals) {
    const answer = await tell(ergon, told, how)
    assert.equal(codeOf(answer.text), code, JSON.stringify(how))
  }
  // The signature is of the bytes: the same JSON with a space more is another text.
  const body = JSON.stringify(more)
  const { signatureOf } = await import('#payments/processor/deliver.ts')
  const signed = signatureOf(body, 'whsec_of_somebody_else', now)
  const altered = await tell(ergon, `${body} `, { signature: signed })
  assert.equal(codeOf(altered.text), 'webhook_forged')
  assert.ok((await balanceOf(payer)) <= before)
})

test('a webhook of another amount, currency or payment moves nothing and alarms', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const id = await withoutWebhooks(ergon, async () =>
    String((await topUp(payer, { amount: '2.00' })).json['id']),
  )
  const event = await eventOf(ergon, id, 'payment_intent.succeeded')
  const wrong = [
    { amount_received: 20_000 },
    { amount_received: 199 },
    { currency: 'eur' },
    { currency: 'jpy' },
    { id: 'pi_of_somebody_else' },
  ]
  for (const members of wrong) {
    const { status, text } = await tell(ergon, changed(event, members))
    assert.deepEqual([status, text], [200, '{"outcomes":["refused"]}'], JSON.stringify(members))
  }
  const unknown = changed(event, { id: 'pi_x', metadata: { payment: 'pay_of_nobody' } })
  assert.match((await tell(ergon, unknown)).text, /not_ours/)
  assert.equal(await balanceOf(payer), 0n)
  const alarms = await ergon.sql(
    "select id from alarms where kind = 'payment_mismatch' and detail ->> 'ours' = $1",
    [id],
  )
  assert.equal(alarms.length, wrong.length)
  assert.match((await tell(ergon, event)).text, /applied/)
  assert.ok((await balanceOf(payer)) > DOLLAR)
})

test('webhooks in another order than their events end in the same state', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const id = await withoutWebhooks(ergon, async () =>
    String((await topUp(payer, { hold: true })).json['id']),
  )
  const held = await eventOf(ergon, id, 'payment_intent.amount_capturable_updated')
  const captured = changed(
    held,
    { status: 'succeeded', amount_received: 500, amount_capturable: 0 },
    {
      type: 'payment_intent.succeeded',
    },
  )
  assert.match((await tell(ergon, captured)).text, /applied/)
  assert.match((await tell(ergon, held)).text, /ignored/)
  const canceled = changed(held, { status: 'canceled' }, { type: 'payment_intent.canceled' })
  assert.match((await tell(ergon, canceled)).text, /ignored/)
  await settled(payer, id, 'captured')
  assert.ok((await balanceOf(payer)) > 499n * (DOLLAR / 100n))
})

test('a payment that no webhook brought is found by asking, once', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const id = await withoutWebhooks(ergon, async () =>
    String((await topUp(payer, { amount: '3.00' })).json['id']),
  )
  await settled(payer, id, 'created')
  assert.equal(await balanceOf(payer), 0n)
  await runTask(ergon, 'payments.reconcile')
  await settled(payer, id, 'captured')
  await runTask(ergon, 'payments.reconcile')
  // Its cursor is of the processor's clock: a jump of ours skips nothing.
  const [cursor] = await ergon.sql<{ ahead: string }>(
    `select (extract(epoch from at) - (select max(created) from test_processor_events))::text as ahead
     from payment_cursors where processor = 'card-test'`,
  )
  assert.ok(Number(cursor?.ahead) <= 0, cursor?.ahead)
  // The webhook comes after all.
  assert.match(
    (await tell(ergon, await eventOf(ergon, id, 'payment_intent.succeeded'))).text,
    /known/,
  )
  const [sum] = await ergon.sql(
    'select sum(amount)::text as pusd from transfers where reference = $1',
    [id],
  )
  assert.equal(sum?.['pusd'], String(3n * DOLLAR))
})

test('a payment that a crash cut off before its call is made by asking, and one after it is made once', async () => {
  const payer = await newPayer(ergon)
  const card = await addCard(payer)
  const insert = (age: string) =>
    ergon.sql<{ id: string }>(
      `insert into payments (id, account, processor, kind, amount_pusd, method, state, created_at, changed_at)
       select new_id('pay', now()), $1, 'card-test', 'topup', $2, $3, 'created', now() - $4::interval, now()
       returning id`,
      [payer.account, String(DOLLAR), card, age],
    )
  const [cut] = await insert('2 minutes')
  await runTask(ergon, 'payments.reconcile')
  await settled(payer, cut?.id, 'captured')
  // The answer to the call was lost: the row knows no reference, and the call is made again.
  const made = await paid(payer, { amount: '1.00' })
  await ergon.sql(
    "update payments set state = 'created', reference = null, created_at = now() - interval '2 minutes' where id = $1",
    [made.id],
  )
  await runTask(ergon, 'payments.reconcile')
  const intents = await ergon.sql(
    "select id from test_processor_objects where kind = 'payment_intent' and body -> 'metadata' ->> 'payment' = $1",
    [made.id],
  )
  assert.equal(intents.length, 1)
})

test('a refund that a crash cut off before its call is made by asking, and comes back after a day', async () => {
  const { payer, id } = await paidOnce()
  // The crash came between the transaction and the call.
  const begin = async (refund: string, age: string) => {
    await ergon.sql('select begin_refund($1, $2, $3, 10000000000)', [refund, id, payer.account])
    await ergon.sql(
      'update payment_refunds set created_at = created_at - $2::interval where id = $1',
      [refund, age],
    )
  }
  const cut = `refund_cut_${payer.account}`
  const late = `refund_late_${payer.account}`
  await begin(cut, '2 minutes')
  await begin(late, '24 hours')
  await runTask(ergon, 'payments.reconcile')
  const stateOf = async (refund: string) =>
    (
      await ergon.sql<{ state: string; reference: string | null }>(
        'select state, reference from payment_refunds where id = $1',
        [refund],
      )
    )[0]
  await until(async () => (await stateOf(cut))?.state === 'succeeded')
  assert.deepEqual(await stateOf(late), { state: 'failed', reference: null })
})

test('a processor that does not answer refuses the call, and nothing is lost or paid twice', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const pid = await ergon.pidOf('test-processor')
  process.kill(pid, 'SIGSTOP')
  const asked = payer.call('POST', '/v1/payment-methods', { type: 'card', token: 'pm_card_visa' })
  await new Promise((resolve) => setTimeout(resolve, 300))
  await ergon.killCell('test-processor')
  const refused = await asked
  assert.ok([201, 503].includes(refused.status), refused.text)
  if (refused.status === 503) assert.equal(codeOf(refused.text), 'payment_processor_away')
  for (;;) {
    const made = await topUp(payer, { amount: '1.00' })
    if (made.status === 201) break
    assert.equal(codeOf(made.text), 'payment_processor_away')
  }
})

test('the books add up after webhooks of a processor', async () => {
  assert.deepEqual(await paymentFaults(ergon), [])
})
