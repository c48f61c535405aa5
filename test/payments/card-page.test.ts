// A card that a payer gives to the processor on its own page: the real SDK, the embedded processor, and signed webhooks.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { methodList, methodReply } from '#contract/payments/payments.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, type Payer } from './client.ts'
import {
  CARDS,
  paid,
  processor,
  processorAnswers,
  runTask,
  sdkOf,
  until,
  withoutWebhooks,
} from './processor.ts'

product(CARDS)

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
})

/** Begins a card without a token; the address of the processor's page. */
async function begin(payer: Payer): Promise<{ readonly id: string; readonly url: string }> {
  const added = await payer.call('POST', '/v1/payment-methods', { type: 'card' })
  assert.equal(added.status, 201, added.text)
  const { id, status, action } = methodReply.parse(added.json)
  assert.deepEqual([status, action?.client_secret], ['pending', null])
  return { id, url: action?.url ?? assert.fail('no page') }
}

/** Sends the form of the page, as a browser does. */
async function send(url: string, fields: Readonly<Record<string, string>>) {
  const body = new URLSearchParams(fields)
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' })
  return {
    status: answer.status,
    location: answer.headers.get('location'),
    text: await answer.text(),
  }
}

const cardsOf = async (payer: Payer) =>
  methodList.parse((await payer.call('GET', '/v1/payment-methods')).json).data
const isActive = async (payer: Payer, id: string) =>
  (await cardsOf(payer)).some((one) => one.id === id && one.status === 'active')
const balancePage = () => `http://portal.localhost:${ergon.port + 1}/balance`

test('a card is given on the page of the processor, and pays', async () => {
  const payer = await newPayer(ergon)
  const { id, url } = await begin(payer)
  const page = await fetch(url)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  const text = await page.text()
  assert.match(text, /<form method="post">/)
  assert.match(text, /<input name="number"/)
  assert.ok(text.includes(`<a href="${balancePage()}">`), text)
  const sent = await send(url, { number: '4242 4242 4242 4242' })
  assert.deepEqual([sent.status, sent.location], [303, balancePage()])
  await until(() => isActive(payer, id))
  assert.equal((await cardsOf(payer))[0]?.label, 'visa ending in 4242')
  await paid(payer, { amount: '3.00', payment_method: id })
  assert.match(await (await fetch(url)).text(), /This page is complete/)
  assert.equal((await send(url, { number: '4242424242424242' })).status, 200)
  assert.equal((await cardsOf(payer)).length, 1)
})

test('a payer whose card is refused tries another one on the same page', async () => {
  const payer = await newPayer(ergon)
  const { id, url } = await begin(payer)
  const unknown = await send(url, { number: '4111 1111 1111 1111' })
  assert.match(unknown.text, /give no real card/)
  const declined = await send(url, { number: '4000 0000 0000 0002' })
  assert.match(declined.text, /was declined: try another one/)
  // The page tells of what happened there before.
  const failed = async () =>
    (
      await ergon.sql(
        `select from test_processor_events where body ->> 'type' = 'setup_intent.setup_failed'
           and delivered_at is not null and body -> 'data' -> 'object' -> 'metadata' ->> 'method' = $1`,
        [id],
      )
    ).length
  await until(async () => (await failed()) === 1)
  assert.deepEqual(
    (await cardsOf(payer)).map((one) => [one.id, one.status]),
    [[id, 'pending']],
  )
  assert.match((await send(url, { number: '4000002760003184' })).text, /bank wants you to confirm/)
  assert.match((await send(url, { bank: 'refuse' })).text, /told no/)
  await send(url, { number: '4000002760003184' })
  assert.equal((await send(url, { bank: 'confirm' })).status, 303)
  await until(() => isActive(payer, id))
})

test('a card of a page whose webhooks were lost is found by asking', async () => {
  const payer = await newPayer(ergon)
  const { id, url } = await begin(payer)
  await withoutWebhooks(ergon, () => send(url, { number: '5555555555554444' }))
  assert.equal(await isActive(payer, id), false)
  await runTask(ergon, 'payments.reconcile')
  assert.equal(await isActive(payer, id), true)
})

test('a page that nobody fills in is closed after a day, and its card is gone', async () => {
  const payer = await newPayer(ergon)
  const { url } = await begin(payer)
  await processor(ergon, 'POST', '/test/clock', `seconds=${86_400}`)
  await until(async () => (await cardsOf(payer)).length === 0)
  assert.match(await (await fetch(url)).text(), /This page is expired/)
  // Other files share this product.
  await ergon.sql('update test_processor_clock set ahead_s = ahead_s - 86400')
})

test('the page of a card that is removed is closed', async () => {
  const payer = await newPayer(ergon)
  const { id, url } = await begin(payer)
  assert.equal((await payer.call('DELETE', `/v1/payment-methods/${id}`)).status, 200)
  assert.match(await (await fetch(url)).text(), /This page is expired/)
})

test('a card that is given although it was removed is taken off at the processor', async () => {
  const payer = await newPayer(ergon)
  const { id, url } = await begin(payer)
  // As where the removal came before the answer that names the page.
  await ergon.sql('update payment_methods set page = null where id = $1', [id])
  assert.equal((await payer.call('DELETE', `/v1/payment-methods/${id}`)).status, 200)
  assert.equal((await send(url, { number: '4242424242424242' })).status, 303)
  await runTask(ergon, 'payments.reconcile')
  const attached = await ergon.sql<{ customer: string | null }>(
    `select body ->> 'customer' as customer from test_processor_objects
     where id = (select reference from payment_methods where id = $1)`,
    [id],
  )
  assert.deepEqual(attached, [{ customer: null }])
})

test('the processor makes such pages for set-ups alone, and shows texts of others as text', async () => {
  const { checkout, customers } = sdkOf(ergon)
  await assert.rejects(checkout.sessions.create({ mode: 'payment' }), /mode is setup/)
  const { id: customer } = await customers.create({})
  const setup = { mode: 'setup', customer } as const
  await assert.rejects(checkout.sessions.create({ ...setup, success_url: 'here' }), /success_url/)
  const made = await checkout.sessions.create({
    ...setup,
    success_url: balancePage(),
    cancel_url: 'http://localhost/"><script>',
  })
  const { url, status } = await checkout.sessions.retrieve(made.id)
  assert.equal(status, 'open')
  assert.doesNotMatch(await (await fetch(url ?? '')).text(), /<script/)
})
