// The way from a settlement to the credit, with lost answers, kills, reorganisations and lies.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { FACILITATOR_KEY } from './chain/facilitator.ts'
import { NETWORK, USD } from './chain/chain.ts'
import {
  claim,
  CONFIRMATIONS,
  look,
  lookAgain,
  newWallet,
  payByX402,
  STABLECOINS,
  testCoins,
  topupOf,
} from './chain/stablecoins.ts'
import { balanceOf, CENT, DOLLAR, paymentFaults, settled, until } from './processor.ts'

product(STABLECOINS)

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

test('a settlement whose answer is lost, or that was refused and done, is found on the chain', async () => {
  const { chain, facilitator } = testCoins()
  for (const [mode, status] of [
    ['silent', 503],
    ['refuses and settles', 402],
  ] as const) {
    const { payer, from } = await newWallet(ergon)
    facilitator.mode = mode
    const answer = await payByX402(ergon, payer, { body: { amount: '4.00' }, from })
    facilitator.mode = 'honest'
    assert.equal(answer.status, status, JSON.stringify(answer.json))
    await chain.mine(CONFIRMATIONS)
    await look(ergon)
    const [topup] = (await payer.call('GET', '/v1/topups')).json['data'] as { id: string }[]
    await settled(payer, topup?.id, 'captured')
    assert.ok((await balanceOf(payer)) > 3n * DOLLAR)
  }
})

test('a gateway that is killed between settlement and credit loses nothing', async () => {
  const { chain, facilitator } = testCoins()
  const { payer, from } = await newWallet(ergon)
  facilitator.mode = 'hangs'
  const count = facilitator.settled.length
  const asked = payByX402(ergon, payer, { body: { amount: '4.00' }, from }).catch(() => undefined)
  await until(async () => facilitator.settled.length > count)
  await ergon.killCell('gw-1')
  await asked
  facilitator.mode = 'honest'
  await chain.mine(CONFIRMATIONS)
  await look(ergon)
  await until(
    async () => (await payer.call('GET', '/v1/topups').catch(() => undefined))?.status === 200,
  )
  const [topup] = (await payer.call('GET', '/v1/topups')).json['data'] as { id: string }[]
  await settled(payer, topup?.id, 'captured')
})

test('a reorganisation before the credit takes the transfer, and after it the money', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 6n * USD])
  const raw = await chain.rawOf(transaction)
  const made = await claim(payer, { transaction, from })
  await chain.reorganise(1)
  await chain.mine(CONFIRMATIONS)
  await lookAgain(ergon)
  assert.equal((await topupOf(payer, made.json['id'])).status, 'created')
  assert.equal(await balanceOf(payer), 0n)
  await chain.sendRaw(raw)
  await chain.mine(CONFIRMATIONS)
  await lookAgain(ergon)
  await settled(payer, made.json['id'], 'captured')
  await chain.reorganise(CONFIRMATIONS + 1)
  await chain.mine(CONFIRMATIONS)
  await lookAgain(ergon)
  await settled(payer, made.json['id'], 'disputed')
  // Running work may hold the rest.
  assert.ok((await balanceOf(payer)) < CENT)
  const alarms = await ergon.sql(
    "select from alarms where kind = 'payment_disputed' and detail ->> 'payment' = $1",
    [made.json['id']],
  )
  assert.equal(alarms.length, 1)
  await chain.sendRaw(raw)
  await chain.mine(CONFIRMATIONS)
  await lookAgain(ergon)
  await settled(payer, made.json['id'], 'captured')
  assert.ok((await balanceOf(payer)) > 5n * DOLLAR)
  await chain.mine(20)
  await lookAgain(ergon)
  assert.equal((await topupOf(payer, made.json['id'])).transfer?.final, true)
})

test('a facilitator that tells of a settlement that no block has is named, and nothing is paid', async () => {
  const { chain, facilitator } = testCoins()
  const { payer, from } = await newWallet(ergon)
  facilitator.mode = 'lies'
  const told = await payByX402(ergon, payer, { body: { amount: '9.00' }, from })
  facilitator.mode = 'honest'
  assert.equal(told.status, 201)
  // As after its end: the clock of the chain, ahead for ever, would end the authorisations of other files.
  await ergon.sql('update stablecoin_payments set valid_before = 1 where payment = $1', [
    told.json['id'],
  ])
  await chain.mine(20)
  await lookAgain(ergon)
  const topup = await settled(payer, told.json['id'], 'failed')
  assert.equal(topup.reason, 'not_on_chain')
  assert.equal(await balanceOf(payer), 0n)
  const alarms = await ergon.sql(
    "select from alarms where kind = 'stablecoin_not_settled' and detail ->> 'payment' = $1",
    [topup.id],
  )
  assert.equal(alarms.length, 1)
})

test('a facilitator that does not settle on the network is told of after a start, an honest one is not', async () => {
  const { facilitator } = testCoins()
  const alarms = () =>
    ergon.sql("select detail from alarms where kind = 'stablecoin_facilitator_unfit'")
  assert.deepEqual(await alarms(), [])
  facilitator.mode = 'of another network'
  await ergon.killCell('tasks')
  await until(async () => (await alarms()).length > 0)
  facilitator.mode = 'honest'
  assert.deepEqual(await alarms(), [{ detail: { network: NETWORK } }])
  await ergon.sql("delete from alarms where kind = 'stablecoin_facilitator_unfit'")
})

test('no secret of the settings is in the log, and the books add up', async () => {
  assert.ok(!ergon.stderr().includes(FACILITATOR_KEY))
  await ergon.sql("delete from alarms where kind = 'stablecoin_not_settled'")
  assert.deepEqual(await paymentFaults(ergon), [])
})
