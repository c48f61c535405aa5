// The hold of the sign-up: spendable while it is authorised, captured with the first use, given back or expired without;
// and automatic top-ups with their mark, their cap and their end.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { accountReply, balanceReply } from '#contract/payments/payments.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, total, walkLedger, type Payer } from './client.ts'
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
  runTask,
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

/** An account with the hold on a card. */
async function signedUp(): Promise<{ readonly payer: Payer; readonly hold: string }> {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const made = await topUp(payer, { hold: true })
  assert.equal(made.status, 201, made.text)
  const hold = await settled(payer, made.json['id'], 'authorized')
  return { payer, hold: hold.id }
}
const spend = (payer: Payer) => payer.call('GET', '/v1/databases')
/** A change is refused without a balance, where a read is answered; there is nothing to change. */
const change = (payer: Payer) => payer.call('PATCH', '/v1/webhooks/whk_none', {})
/** Takes a cent of a lot out of the account, as charges would. */
const useCent = (payer: Payer, reference: string) =>
  ergon.sql(
    `with used as (update lots set remaining = remaining - $3 where reference = $2)
     select transfer('money:' || $1, 'operator:loss:tUSD', $3, 'refund', $2)`,
    [payer.account, reference, String(CENT)],
  )
/** The hold ends within the day in which it is given back. */
const age = (hold: string, interval: string) =>
  ergon.sql(
    `with p as (update payments set lives_until = now() + $2::interval where id = $1)
     update pending_credits set expires_at = now() + $2::interval where id = $1`,
    [hold, interval],
  )

test('a hold is balance at once, pays, and is captured once something is spent', async () => {
  const { payer, hold } = await signedUp()
  assert.ok((await balanceOf(payer)) > 499n * CENT)
  const found = await settled(payer, hold, 'authorized')
  const days = (Date.parse(found.held_until ?? '') - Date.now()) / 86_400_000
  assert.ok(days > 6.9 && days < 7.1, found.held_until ?? 'none')
  const { lots } = balanceReply.parse((await payer.call('GET', '/v1/balance')).json)
  assert.equal(Date.parse(lots[0]?.expires_at ?? ''), Date.parse(found.held_until ?? ''))
  await runTask(ergon, 'payments.holds')
  assert.equal((await settled(payer, hold, 'authorized')).id, hold)
  assert.equal((await spend(payer)).status, 200)
  await useCent(payer, hold)
  await runTask(ergon, 'payments.holds')
  await settled(payer, hold, 'captured')
  const { entries } = await walkLedger(payer, `id=${hold}`)
  assert.deepEqual(
    entries.map(({ kind, amount_pusd: amount }) => [kind, amount]),
    [
      ['refund', String(-CENT)],
      ['hold', String(5n * DOLLAR)],
    ],
  )
  const second = await topUp(payer, { hold: true })
  assert.deepEqual([second.status, second.json['title']], [409, 'hold_exists'])
})

test('an unused hold is given back a day before it ends, and the account may hold again', async () => {
  const { payer, hold } = await signedUp()
  const path = `/v1/topups/${hold}`
  for (const refused of [
    await payer.call('DELETE', path),
    await payer.call('POST', `${path}/refunds`, {}),
  ]) {
    assert.equal(refused.status, 409)
    assert.match(refused.text, /it is a hold, which ends by itself on \d{4}-\d\d-\d\d unless/)
  }
  await age(hold, '23 hours')
  await runTask(ergon, 'payments.holds')
  await settled(payer, hold, 'voided')
  // Less than a cent is leased, and goes as leases return.
  assert.ok((await balanceOf(payer)) < CENT)
  assert.deepEqual(
    (await walkLedger(payer, `id=${hold}`)).entries.map(({ kind }) => kind),
    ['taken_back', 'hold'],
  )
  await settled(payer, (await topUp(payer, { hold: true })).json['id'], 'authorized')
})

test('a hold that the bank ends is taken back', async () => {
  const { payer, hold } = await signedUp()
  await processor(ergon, 'POST', '/test/clock', `seconds=${8 * 86_400}`)
  await settled(payer, hold, 'expired')
  assert.ok((await balanceOf(payer)) < CENT)
})

test('an authorisation that the ledger gave up and that was captured all the same is money', async () => {
  const { payer, hold } = await signedUp()
  await useCent(payer, hold)
  await age(hold, '-1 second')
  await runTask(ergon, 'ledger.books')
  await until(async () => (await balanceOf(payer)) < CENT)
  await runTask(ergon, 'payments.holds')
  await settled(payer, hold, 'captured')
  assert.ok((await balanceOf(payer)) > 498n * CENT)
})

test('an unused hold is not captured because the ledger gave it up first', async () => {
  const { payer, hold } = await signedUp()
  await age(hold, '-1 second')
  await runTask(ergon, 'ledger.books')
  await until(async () => (await balanceOf(payer)) < CENT)
  await runTask(ergon, 'payments.holds')
  await settled(payer, hold, 'voided')
})

test('balance.low comes once for each crossing of the mark, and balance.depleted at the end', async () => {
  const payer = await newPayer(ergon)
  const cents = (amount: bigint) =>
    ergon.control('funds.add', { account: payer.account, pusd: String(amount) })
  await cents(100_000n)
  const set = await payer.call('PATCH', '/v1/account', { low_water: '0.00000009' })
  assert.equal(accountReply.parse(set.json).low_water_pusd, '90000')
  const events = async (type: string) =>
    (
      await ergon.sql(
        'select data from events where account = $1 and type = $2 order by sequence',
        [payer.account, type],
      )
    ).length
  for (let left = 1000; left > 0 && (await events('balance.depleted')) === 0; left--)
    await spend(payer)
  assert.deepEqual([await events('balance.low'), await events('balance.depleted')], [1, 1])
  const refused = await change(payer)
  assert.deepEqual([refused.status, refused.json['title']], [402, 'balance_depleted'])
  assert.equal(refused.json['top_up_url'], `http://portal.localhost:${ergon.port + 1}/balance`)
  await cents(200_000n)
  await until(async () => (await change(payer)).status !== 402)
  const again = await payer.call('PATCH', '/v1/account', { low_water: '0.00000019' })
  assert.equal(again.status, 200)
  for (let left = 1000; left > 0 && (await events('balance.low')) < 2; left--) await spend(payer)
  assert.equal(await events('balance.low'), 2)
})

test('a processor that refuses one hold keeps no other one', async () => {
  const { payer: first, hold } = await signedUp()
  const { payer, hold: next } = await signedUp()
  await useCent(first, hold)
  await useCent(payer, next)
  // The processor has canceled the first, and its word of that is lost.
  await ergon.sql(
    `update test_processor_objects o set body = jsonb_set(body, '{status}', '"canceled"') from payments p
     where p.id = $1 and o.id = p.reference`,
    [hold],
  )
  await age(hold, '5 days')
  await runTask(ergon, 'payments.holds')
  await settled(payer, next, 'captured')
  // The check of payments finds the hold, although the processor sent no event.
  await ergon.sql(
    "update payments set changed_at = now() - interval '1 hour', looked_at = '-infinity' where id = $1",
    [hold],
  )
  await runTask(ergon, 'payments.reconcile')
  await settled(first, hold, 'voided')
})

test('a confirmation that nobody gave ends after a day, and makes room for the next payment', async () => {
  const payer = await newPayer(ergon)
  const card = await addCard(payer)
  const { reference } = (
    await ergon.sql<{ reference: string }>('select reference from payment_methods where id = $1', [
      card,
    ])
  )[0] ?? { reference: '' }
  await ergon.sql(
    `update test_processor_objects set body = jsonb_set(body, '{behaviour}', '"authenticates"') where id = $1`,
    [reference],
  )
  const waiting = await settled(
    payer,
    (await topUp(payer, { amount: '3.00' })).json['id'],
    'requires_action',
  )
  await ergon.sql(
    "update payments set created_at = created_at - interval '25 hours' where id = $1",
    [waiting.id],
  )
  const [uncalled] = await ergon.sql<{ id: string }>(
    `insert into payments (id, account, processor, kind, amount_pusd, method, state, created_at, changed_at)
     select new_id('pay', now()), $1, 'card-test', 'topup', 1, $2, 'created', now() - interval '25 hours', now()
     returning id`,
    [payer.account, card],
  )
  await runTask(ergon, 'payments.reconcile')
  await settled(payer, waiting.id, 'voided')
  assert.equal((await settled(payer, uncalled?.id, 'failed')).reason, 'not_called')
})

const automatic = async (payer: Payer, monthMax: string) =>
  await payer.call('PATCH', '/v1/account', {
    auto_topup: { amount: '20.00', below: '5.00', month_max: monthMax },
  })

test('an automatic top-up is made once when the balance is below its mark, up to the month’s most', async () => {
  const payer = await newPayer(ergon)
  assert.equal((await automatic(payer, '50')).json['title'], 'payment_method_not_found')
  await addCard(payer)
  await paid(payer, { amount: '1.00' })
  assert.equal((await automatic(payer, '50.00')).status, 200)
  await runTask(ergon, 'payments.automatic')
  await until(async () => (await balanceOf(payer)) > 20n * DOLLAR)
  await runTask(ergon, 'payments.automatic')
  const account = async () => accountReply.parse((await payer.call('GET', '/v1/account')).json)
  assert.equal((await account()).auto_topup?.month_pusd, String(20n * DOLLAR))
  // The mark is above the balance from now on: a second one fits, a third one does not.
  await payer.call('PATCH', '/v1/account', {
    auto_topup: { amount: '20.00', below: '1000.00', month_max: '50.00' },
  })
  await runTask(ergon, 'payments.automatic')
  await until(async () => (await balanceOf(payer)) > 40n * DOLLAR)
  for (let run = 0; run < 2; run++) await runTask(ergon, 'payments.automatic')
  assert.equal((await account()).auto_topup?.month_pusd, String(40n * DOLLAR))
  const balance = balanceReply.parse((await payer.call('GET', '/v1/balance')).json)
  assert.equal(balance.auto_topup?.amount_pusd, String(20n * DOLLAR))
  const topups = (await walkLedger(payer, 'kind=topup')).entries
  assert.equal(total(topups), 41n * DOLLAR)
  const audit = await payer.call('GET', '/v1/audit?action=topup.create')
  const kinds = (audit.json['data'] as { details: { kind: string } }[]).map(
    ({ details }) => details.kind,
  )
  assert.deepEqual(kinds, ['automatic', 'automatic', 'topup'])
  const off = await payer.call('PATCH', '/v1/account', { auto_topup: null })
  assert.equal(accountReply.parse(off.json).auto_topup, null)
})

test('automatic top-ups rest for a day after a decline, and stop after three', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer, 'pm_card_chargeCustomerFail')
  await ergon.control('funds.add', { account: payer.account, pusd: '100000000' })
  await automatic(payer, '100.00')
  const declined = async () =>
    (
      await ergon.sql("select id from payments where account = $1 and state = 'failed'", [
        payer.account,
      ])
    ).length
  for (let round = 1; round <= 4; round++) {
    await runTask(ergon, 'payments.automatic')
    await runTask(ergon, 'payments.automatic')
    await until(async () => (await declined()) === Math.min(round, 3))
    await ergon.sql(
      "update payments set created_at = created_at - interval '25 hours' where account = $1",
      [payer.account],
    )
  }
  const account = accountReply.parse((await payer.call('GET', '/v1/account')).json)
  assert.equal(account.auto_topup?.stopped, true)
})

test('the books add up after holds', async () => {
  assert.deepEqual(await paymentFaults(ergon), [])
})
