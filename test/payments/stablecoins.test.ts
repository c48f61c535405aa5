// Money by stablecoin on a chain of our own: the real clients and facilitator of x402, and transfers that are claimed.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import { FAILURES_PER_DAY_MAX } from '#payments/pace.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, walkLedger, type Payer } from './client.ts'
import {
  claim,
  codeOf,
  CONFIRMATIONS,
  look,
  lookAgain,
  newWallet,
  payByX402,
  reasonOf,
  STABLECOINS,
  testCoins,
  topupOf,
} from './chain/stablecoins.ts'
import { NETWORK, USD } from './chain/chain.ts'
import { balanceOf, DOLLAR, settled } from './processor.ts'

product(STABLECOINS)

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

test('the first answer is an offer by x402 and by a transfer', async () => {
  const { chain } = testCoins()
  const payer = await newPayer(ergon)
  const ways = (await payer.call('GET', '/v1/payment-methods')).json
  assert.deepEqual([ways['takes_cards'], ways['takes_stablecoins']], [false, true])
  const asked = await payer.call('POST', '/v1/topups', { amount: '20.00', method: 'stablecoin' })
  assert.deepEqual([asked.status, asked.json['title']], [402, 'payment_required'])
  const required = decodePaymentRequiredHeader(asked.headers.get('payment-required') ?? '')
  assert.equal(required.x402Version, 2)
  assert.equal(required.resource.url, `http://localhost:${ergon.port}/v1/topups`)
  assert.deepEqual(required.accepts, [
    {
      scheme: 'exact',
      network: NETWORK,
      amount: '20000000',
      asset: chain.token,
      payTo: chain.receiver.toLowerCase(),
      maxTimeoutSeconds: 300,
      extra: { assetTransferMethod: 'eip3009', name: 'Test Dollar', version: '2' },
    },
  ])
  assert.match(
    String(asked.json['pay_link']),
    /^ethereum:0x\w{40}@31337\/transfer\?address=0x\w{40}&uint256=20000000$/,
  )
  assert.equal((await payer.call('GET', '/v1/topups')).json['data'] instanceof Array, true)
})

test('the client of x402 pays; the money is balance after the confirmations and not before', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const paid = await payByX402(ergon, payer, { body: { amount: '20.00' }, from })
  assert.equal(paid.status, 201, JSON.stringify(paid.json))
  const response = decodePaymentResponseHeader(paid.headers.get('payment-response') ?? '')
  assert.equal(response.success, true)
  const first = await topupOf(payer, paid.json['id'])
  assert.deepEqual([first.status, first.transfer?.confirmations], ['created', 1])
  assert.equal(first.transfer?.transaction, response.transaction)
  await chain.mine(CONFIRMATIONS - 2)
  await look(ergon)
  assert.equal((await topupOf(payer, first.id)).status, 'created')
  await chain.mine(1)
  await look(ergon)
  const done = await settled(payer, first.id, 'captured')
  assert.equal(done.amount_pusd, String(20n * DOLLAR))
  const { sums } = await walkLedger(payer, 'kind=topup')
  assert.equal(sums?.in_pusd, String(20n * DOLLAR))
})

async function signOnly(payer: Payer, from: number, amount: string): Promise<string> {
  let header = ''
  await payByX402(ergon, payer, {
    body: { amount },
    from,
    fetch: async (input) => {
      const request = new Request(input)
      header = request.headers.get('payment-signature') ?? header
      return header === '' ? await fetch(request) : Response.json({})
    },
  })
  return header
}
const paySigned = (payer: Payer, amount: string, header: string, more = {}) =>
  payer.call(
    'POST',
    '/v1/topups',
    { amount, method: 'stablecoin' },
    { 'payment-signature': header, ...more },
  )

type Payload = {
  accepted: Record<string, unknown>
  payload: { authorization: Record<string, unknown>; signature: string }
}
const altered = (header: string, change: (payload: Payload) => void): string => {
  const payload = JSON.parse(Buffer.from(header, 'base64').toString()) as Payload
  change(payload)
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

test('a signature pays once: again it is the same payment, and for others none', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const header = await signOnly(payer, from, '3.00')
  const first = await paySigned(payer, '3.00', header)
  assert.equal(first.status, 201, first.text)
  const again = await Promise.all(Array.from({ length: 8 }, () => paySigned(payer, '3.00', header)))
  assert.deepEqual([...new Set(again.map(({ json }) => json['id']))], [first.json['id']])
  const other = await newPayer(ergon)
  assert.equal(codeOf(await paySigned(other, '3.00', header)), 'transfer_claimed')
  await chain.mine(CONFIRMATIONS)
  await look(ergon)
  await settled(payer, first.json['id'], 'captured')
  const { sums } = await walkLedger(payer, 'kind=topup')
  assert.equal(sums?.in_pusd, String(3n * DOLLAR))
  // The transfer of an authorisation is that payment's: nobody claims it as one of their own.
  const transaction = String((await topupOf(payer, first.json['id'])).transfer?.transaction)
  assert.equal(reasonOf(await claim(payer, { transaction, from })), 'no_transfer')
})

test('a signature for something else is refused before it is sent to anybody', async () => {
  const { facilitator } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const header = await signOnly(payer, from, '3.00')
  const asked = facilitator.asked
  const wrong: ((payload: Payload) => void)[] = [
    ({ accepted }) => (accepted['amount'] = '1'),
    ({ accepted }) => (accepted['network'] = 'eip155:1'),
    ({ accepted }) => (accepted['asset'] = `0x${'1'.repeat(40)}`),
    ({ accepted }) => (accepted['payTo'] = `0x${'1'.repeat(40)}`),
    ({ accepted }) => (accepted['scheme'] = 'upto'),
    ({ payload }) => (payload.authorization['value'] = '2999999'),
    ({ payload }) => (payload.authorization['to'] = `0x${'1'.repeat(40)}`),
    ({ payload }) => (payload.authorization['validBefore'] = '1'),
    ({ payload }) => (payload.authorization['validBefore'] = '99999999999'),
    ({ payload }) => (payload.authorization['nonce'] = '0x12'),
    ({ payload }) => (payload.authorization['nonce'] = `0x${'77'.repeat(32)}`),
    ({ payload }) => (payload.signature = 'none'),
  ]
  for (const change of wrong) {
    const refused = await paySigned(payer, '3.00', altered(header, change))
    assert.deepEqual([refused.status, codeOf(refused)], [400, 'payment_invalid'], String(change))
  }
  for (const bytes of ['', 'bm8gSlNPTg==', 'e30=', 'A'.repeat(8000)])
    assert.equal(codeOf(await paySigned(payer, '3.00', bytes)), 'payment_invalid')
  // Another amount than the request's.
  assert.equal(codeOf(await paySigned(payer, '2.00', header)), 'payment_invalid')
  assert.equal(facilitator.asked, asked)
  assert.deepEqual((await payer.call('GET', '/v1/topups')).json['data'], [])
})

/** Sends the authorisation of a header to the chain past us. */
async function sendElsewhere(from: number, header: string): Promise<void> {
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString()) as Payload
  const { authorization, signature } = payload
  const { from: sender, to, value, validAfter, validBefore, nonce } = authorization
  const numbers = [value, validAfter, validBefore].map((number) => BigInt(String(number)))
  const { chain } = testCoins()
  const args = [sender, to, ...numbers, nonce, signature]
  await chain.send(from, 'transferWithAuthorization', args)
}

test("another's transfer by authorisation is nobody's without the signature of its payer", async () => {
  const { chain, facilitator } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const thief = await newWallet(ergon)
  const header = await signOnly(payer, from, '3.00')
  const ofThief = await signOnly(thief.payer, thief.from, '3.00')
  await sendElsewhere(from, header)
  const asked = facilitator.asked
  const signatures = [
    `0x${'11'.repeat(64)}1b`,
    `0x${'00'.repeat(65)}`,
    '0x11',
    `0x${'11'.repeat(200)}`,
    (JSON.parse(Buffer.from(ofThief, 'base64').toString()) as Payload).payload.signature,
  ]
  for (const signature of signatures) {
    const forged = altered(header, ({ payload }) => (payload.signature = signature))
    const refused = await paySigned(thief.payer, '3.00', forged)
    assert.deepEqual([refused.status, codeOf(refused)], [400, 'payment_invalid'], signature)
    assert.match(refused.text, /payload\.signature/)
  }
  // The signature of the payer is public once a block has it.
  const copied = await paySigned(thief.payer, '3.00', header)
  assert.deepEqual([copied.status, codeOf(copied)], [400, 'payment_invalid'])
  assert.match(copied.text, /used before/)
  assert.equal(facilitator.asked, asked)
  await chain.mine(CONFIRMATIONS)
  await lookAgain(ergon)
  assert.deepEqual((await thief.payer.call('GET', '/v1/topups')).json['data'], [])
  assert.equal(await balanceOf(thief.payer), 0n)
  const paid = await payByX402(ergon, payer, { body: { amount: '3.00' }, from })
  assert.equal(paid.status, 201, JSON.stringify(paid.json))
  await chain.mine(CONFIRMATIONS)
  await lookAgain(ergon)
  await settled(payer, paid.json['id'], 'captured')
})

test('an authorisation that the facilitator refuses moves nothing and says why, with a new offer', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const header = await signOnly(payer, from, '3.00')
  await chain.send(from, 'transfer', [chain.account(1).address, 1000n * USD])
  const key = { 'idempotency-key': randomUUID() }
  const refused = await paySigned(payer, '3.00', header, key)
  assert.deepEqual([refused.status, codeOf(refused)], [402, 'payment_declined'])
  const again = await paySigned(payer, '3.00', await signOnly(payer, from, '3.00'), key)
  assert.deepEqual(
    [codeOf(again), again.json['topup']],
    ['payment_declined', refused.json['topup']],
  )
  assert.match(again.text, /another Idempotency-Key/)
  const response = decodePaymentResponseHeader(refused.headers.get('payment-response') ?? '')
  assert.deepEqual([response.success, response.errorReason], [false, reasonOf(refused)])
  assert.ok(refused.headers.get('payment-required'))
  assert.equal((await topupOf(payer, refused.json['topup'])).status, 'failed')
  assert.equal(await balanceOf(payer), 0n)
})

test('payments that are refused count: after some a day neither facilitator nor chain is asked', async () => {
  const { chain, facilitator } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 1000n * USD])
  for (let nth = 0; nth < FAILURES_PER_DAY_MAX; nth++) {
    const refused = await payByX402(ergon, payer, { body: { amount: '3.00' }, from })
    assert.equal(codeOf(refused), 'payment_declined')
  }
  const asked = facilitator.asked
  const late = await payByX402(ergon, payer, { body: { amount: '3.00' }, from })
  assert.deepEqual([late.status, codeOf(late)], [429, 'payment_pace_exceeded'])
  assert.equal(codeOf(await claim(payer, { transaction, from })), 'payment_pace_exceeded')
  assert.equal(facilitator.asked, asked)
})

test('the $5 of a hold are paid at once, one hold at a time; live accounts have no test chain', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const paid = await payByX402(ergon, payer, { body: { hold: true }, from })
  await chain.mine(CONFIRMATIONS)
  await look(ergon)
  const done = await settled(payer, paid.json['id'], 'captured')
  assert.deepEqual([done.kind, done.amount_pusd], ['hold', String(5n * DOLLAR)])
  const second = await payByX402(ergon, payer, { body: { hold: true }, from })
  assert.equal(second.json['title'], 'hold_exists')
  const live = await newPayer(ergon, { env: 'live' })
  const asked = await live.call('POST', '/v1/topups', { amount: '5.00', method: 'stablecoin' })
  assert.deepEqual([asked.status, codeOf(asked)], [409, 'payments_off'])
})
