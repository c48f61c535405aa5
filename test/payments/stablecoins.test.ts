// Money by stablecoin on a chain of our own: the real clients and facilitator of x402, and transfers that are claimed.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import type { TopupReply } from '#contract/payments.ts'
import { FAILURES_PER_DAY_MAX } from '#payments/pace.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, walkLedger, type Answer, type Payer } from './client.ts'
import { FACILITATOR_KEY } from './chain/facilitator.ts'
import {
  claim,
  CONFIRMATIONS,
  newWallet,
  payByX402,
  STABLECOINS,
  testCoins,
  topupOf,
} from './chain/stablecoins.ts'
import { NETWORK, USD } from './chain/chain.ts'
import { balanceOf, CENT, DOLLAR, paymentFaults, runTask, settled, until } from './processor.ts'

product(STABLECOINS)

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})
const look = () => runTask(ergon, 'payments.stablecoins')

test('the first answer is an offer by x402 and by a transfer', async () => {
  const { chain } = testCoins()
  const payer = await newPayer(ergon)
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
  await look()
  assert.equal((await topupOf(payer, first.id)).status, 'created')
  await chain.mine(1)
  await look()
  const done = await settled(payer, first.id, 'captured')
  assert.equal(done.amount_pusd, String(20n * DOLLAR))
  const { sums } = await walkLedger(payer, 'kind=topup')
  assert.equal(sums?.in_pusd, String(20n * DOLLAR))
})

test('a transfer that the sender claims pays what it brought, with what is below a cent', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 7n * USD + 123n])
  const made = await claim(payer, { transaction, from })
  assert.equal(made.status, 201, made.text)
  await chain.mine(CONFIRMATIONS)
  await look()
  const done = await settled(payer, made.json['id'], 'captured')
  assert.equal(done.amount_pusd, String(7n * DOLLAR + 123n * (DOLLAR / USD)))
  assert.ok((await balanceOf(payer)) > 7n * DOLLAR)
})

test('a payment is watched by the token and the receiver that it began with, whatever the setting names since', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const before = { token: await chain.deploy(), receiver: chain.account(8).address }
  await chain.mint(chain.account(from).address, 100n * USD, before.token)
  const transaction = await chain.send(from, 'transfer', [before.receiver, 5n * USD], before.token)
  const id = `pay_earlier_${from}`
  await ergon.sql("select begin_payment($1, $2, 'stablecoin-test', 'topup', 5e12, null, 5)", [
    id,
    payer.account,
  ])
  await ergon.sql(
    `insert into stablecoin_payments (payment, network, token, receiver, sender, units, confirmations_needed, from_block,
       transaction, log_index, created_at) values ($1, $2, $3, $4, $5, 5000000, $6, 0, $7, 0, ledger_now())`,
    [
      id,
      NETWORK,
      before.token.toLowerCase(),
      before.receiver.toLowerCase(),
      chain.account(from).address.toLowerCase(),
      CONFIRMATIONS,
      transaction,
    ],
  )
  await chain.mine(CONFIRMATIONS)
  await look()
  await settled(payer, id, 'captured')
  assert.ok((await balanceOf(payer)) > 4n * DOLLAR)
})

/** As a minute later: what is balance is looked at less often. */
const lookAgain = async () => {
  await ergon.sql("update stablecoin_payments set looked_at = '-infinity'")
  await look()
}
const codeOf = ({ json }: { readonly json: Readonly<Record<string, unknown>> }) => json['title']
const reasonOf = ({ json }: Answer) => json['reason']

/** Keeps the header that a client of x402 signs, instead of sending it. */
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
const paySigned = (payer: Payer, amount: string, header: string) =>
  payer.call(
    'POST',
    '/v1/topups',
    { amount, method: 'stablecoin' },
    { 'payment-signature': header },
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
  await look()
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
  await lookAgain()
  assert.deepEqual((await thief.payer.call('GET', '/v1/topups')).json['data'], [])
  assert.equal(await balanceOf(thief.payer), 0n)
  const paid = await payByX402(ergon, payer, { body: { amount: '3.00' }, from })
  assert.equal(paid.status, 201, JSON.stringify(paid.json))
  await chain.mine(CONFIRMATIONS)
  await lookAgain()
  await settled(payer, paid.json['id'], 'captured')
})

test('an authorisation that the facilitator refuses moves nothing and says why, with a new offer', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const header = await signOnly(payer, from, '3.00')
  await chain.send(from, 'transfer', [chain.account(1).address, 1000n * USD])
  const refused = await paySigned(payer, '3.00', header)
  assert.deepEqual([refused.status, codeOf(refused)], [402, 'payment_declined'])
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

test('a transfer is paid to whom its sender names, and only one of this token to us', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const thief = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 5n * USD])
  const others = [
    await claim(thief.payer, { transaction, from: thief.from }),
    // The sender named another account.
    await claim(thief.payer, { transaction, from, account: payer.account }),
  ]
  for (const refused of others)
    assert.deepEqual([codeOf(refused), reasonOf(refused)], ['transfer_refused', 'no_transfer'])
  const elsewhere = await chain.send(from, 'transfer', [chain.account(1).address, 5n * USD])
  assert.equal(reasonOf(await claim(payer, { transaction: elsewhere, from })), 'no_transfer')
  const otherToken = await chain.deploy()
  await chain.mint(chain.account(from).address, 100n * USD, otherToken)
  const ofOther = await chain.send(from, 'transfer', [chain.receiver, 5n * USD], otherToken)
  assert.equal(reasonOf(await claim(payer, { transaction: ofOther, from })), 'no_transfer')
  const small = await chain.send(from, 'transfer', [chain.receiver, USD - 1n])
  assert.equal(reasonOf(await claim(payer, { transaction: small, from })), 'too_small')
  const unknown = `0x${'12'.repeat(32)}`
  assert.equal(codeOf(await claim(payer, { transaction: unknown, from })), 'transfer_pending')
  const network = 'eip155:8453'
  assert.equal(codeOf(await claim(payer, { transaction, from, network })), 'invalid_request')
  const unsigned = await payer.call('POST', '/v1/topups', {
    method: 'stablecoin',
    transfer: { network: NETWORK, transaction, signature: `0x${'00'.repeat(65)}` },
  })
  assert.equal(reasonOf(unsigned), 'unsigned')
  const twice = await chain.send(from, 'transferTwice', [chain.receiver, 2n * USD, 3n * USD])
  const made = await claim(payer, { transaction: twice, from })
  assert.equal(made.json['amount_pusd'], String(5n * DOLLAR), made.text)
})

test('the command line prints how to pay and the text to sign, claims the transfer and waits for its money', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const cli = cliOf(payer)
  const asked = await cli('topup', '6.50', '--stablecoin')
  assert.match(asked.stdout, /network +eip155:31337\n/)
  assert.match(asked.stdout, new RegExp(`receiver +${chain.receiver}\nunits +6500000\n`, 'i'))
  assert.match(
    asked.stdout,
    /link +ethereum:0x\w+@31337\/transfer\?address=0x\w+&uint256=6500000\n/,
  )
  const offer = JSON.parse((await cli('topup', '6.50', '--stablecoin', '--json')).stdout) as Record<
    string,
    unknown
  >
  assert.deepEqual([offer['units'], offer['confirmations']], ['6500000', CONFIRMATIONS])

  const transaction = await chain.send(from, 'transfer', [chain.receiver, 6_500_000n])
  const text = (await cli('topup', '--transaction', transaction)).stdout.trim()
  const signature = await chain.account(from).signMessage({ message: text })
  const waiting = cli('topup', '--transaction', transaction, '--signature', signature)
  // Commands run one after another.
  await until(async () => {
    const { json } = await payer.call('GET', '/v1/topups')
    return (json['data'] as TopupReply[])[0]?.transfer?.confirmations === 1
  })
  await chain.mine(CONFIRMATIONS)
  const done = await waiting
  assert.match(done.stderr, /6\.5 tUSD are paid \(test money: no funds move\): pay_/)
  const listed = JSON.parse((await cli('payments', '--json')).stdout) as {
    data: { status: string }[]
  }
  assert.equal(listed.data[0]?.status, 'captured')
  const again = await cli(
    'topup',
    '--transaction',
    transaction,
    '--signature',
    `0x${'00'.repeat(65)}`,
  )
  assert.match(again.stderr, /the signature is none/)
  assert.match((await cli('topup', '5', '--transaction', transaction)).stderr, /Give an amount/)
})

const cliOf =
  ({ token }: Payer) =>
  (...words: string[]) =>
    ergon.commands.run({
      words,
      env: {
        PATH: '',
        ERGON_DATA: ergon.dataFolder,
        ERGON_BASE_URL: ergon.baseUrl,
        ERGON_TOKEN: token,
      },
    })

test('a refund waits for the operator, who sends the tokens back, once, or refuses', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 9n * USD])
  const made = await claim(payer, { transaction, from })
  await chain.mine(CONFIRMATIONS)
  await lookAgain()
  await settled(payer, made.json['id'], 'captured')
  const refund = async (amount: string) => {
    const begun = await payer.call('POST', `/v1/topups/${String(made.json['id'])}/refunds`, {
      amount,
    })
    assert.equal(begun.status, 201, begun.text)
    return String(begun.json['id'])
  }
  const first = await refund('4.00')
  const second = await refund('3.00')
  assert.ok((await balanceOf(payer)) < 2n * DOLLAR)
  const sent = await chain.send(9, 'transfer', [chain.account(from).address, 4n * USD])
  const settle = (id: string, of: string) =>
    ergon.control('refund.settle', { refund: id, transaction: of })
  await assert.rejects(settle(first, sent), /not final/)
  await chain.mine(20)
  await lookAgain()
  const [waiting] = (await ergon.control('refund.list', {})).filter(({ id }) => id === first)
  assert.deepEqual(
    [waiting?.units, waiting?.final, waiting?.receiver],
    ['4000000', true, chain.account(from).address.toLowerCase()],
  )
  const elsewhere = await chain.send(9, 'transfer', [chain.account(1).address, 4n * USD])
  await chain.mine(CONFIRMATIONS)
  await assert.rejects(settle(first, elsewhere), /sent less/)
  const cli = cliOf(payer)
  assert.match((await cli('admin', 'refund', 'list')).stdout, new RegExp(`${first}.*4000000.*yes`))
  const settledNow = await cli('admin', 'refund', 'settle', first, sent)
  assert.match(settledNow.stderr, /settled refund_/)
  await assert.rejects(settle(first, sent), /Could not find a refund/)
  await assert.rejects(settle(second, sent), /another refund/)
  assert.match((await cli('admin', 'refund', 'refuse', second)).stderr, /balance again/)
  await assert.rejects(ergon.control('refund.refuse', { refund: second }), /Could not find/)
  assert.equal((await topupOf(payer, made.json['id'])).refunded_pusd, String(4n * DOLLAR))
  assert.ok((await balanceOf(payer)) > 4n * DOLLAR)
  const audit = (await payer.call('GET', '/v1/audit')).text
  assert.match(audit, /refund.settle/)
  assert.match(audit, /refund.refuse/)
})

test('one transfer that is claimed 50 times at once is one credit', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const other = await newPayer(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 5n * USD])
  const claims = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      claim(at % 5 === 0 ? other : payer, { transaction, from }),
    ),
  )
  const taken = claims.filter(({ status }) => status === 201)
  assert.equal(new Set(taken.map(({ json }) => json['id'])).size, 1)
  for (const lost of claims.filter(({ status }) => status !== 201))
    assert.equal(codeOf(lost), 'transfer_claimed')
  await chain.mine(CONFIRMATIONS)
  await look()
  const [sum] = await ergon.sql(
    "select sum(amount)::text as pusd from transfers where kind = 'top_up' and debit = 'operator:funds:tUSD' and credit = any ($1)",
    [[`money:${payer.account}`, `money:${other.account}`]],
  )
  assert.equal(sum?.['pusd'], String(5n * DOLLAR))
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
    await look()
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
  await look()
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
  await lookAgain()
  assert.equal((await topupOf(payer, made.json['id'])).status, 'created')
  assert.equal(await balanceOf(payer), 0n)
  await chain.sendRaw(raw)
  await chain.mine(CONFIRMATIONS)
  await lookAgain()
  await settled(payer, made.json['id'], 'captured')
  await chain.reorganise(CONFIRMATIONS + 1)
  await chain.mine(CONFIRMATIONS)
  await lookAgain()
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
  await lookAgain()
  await settled(payer, made.json['id'], 'captured')
  assert.ok((await balanceOf(payer)) > 5n * DOLLAR)
  await chain.mine(20)
  await lookAgain()
  assert.equal((await topupOf(payer, made.json['id'])).transfer?.final, true)
})

test('the $5 of a hold are paid at once, one hold at a time; live accounts have no test chain', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const paid = await payByX402(ergon, payer, { body: { hold: true }, from })
  await chain.mine(CONFIRMATIONS)
  await look()
  const done = await settled(payer, paid.json['id'], 'captured')
  assert.deepEqual([done.kind, done.amount_pusd], ['hold', String(5n * DOLLAR)])
  const second = await payByX402(ergon, payer, { body: { hold: true }, from })
  assert.equal(second.json['title'], 'hold_exists')
  const live = await newPayer(ergon, { env: 'live' })
  const asked = await live.call('POST', '/v1/topups', { amount: '5.00', method: 'stablecoin' })
  assert.deepEqual([asked.status, codeOf(asked)], [409, 'payments_off'])
})

test('a facilitator that tells of a settlement that no block has is named, and nothing is paid', async () => {
  const { chain, facilitator } = testCoins()
  const { payer, from } = await newWallet(ergon)
  facilitator.mode = 'lies'
  const told = await payByX402(ergon, payer, { body: { amount: '9.00' }, from })
  facilitator.mode = 'honest'
  assert.equal(told.status, 201)
  // Beyond the authorisation, in blocks that stay.
  await chain.operator.increaseTime({ seconds: 600 })
  await chain.mine(20)
  await lookAgain()
  const topup = await settled(payer, told.json['id'], 'failed')
  assert.equal(topup.reason, 'not_on_chain')
  assert.equal(await balanceOf(payer), 0n)
  const alarms = await ergon.sql(
    "select from alarms where kind = 'stablecoin_not_settled' and detail ->> 'payment' = $1",
    [topup.id],
  )
  assert.equal(alarms.length, 1)
})

test('no secret of the settings is in the log, and the books add up', async () => {
  assert.ok(!ergon.stderr().includes(FACILITATOR_KEY))
  await ergon.sql("delete from alarms where kind = 'stablecoin_not_settled'")
  assert.deepEqual(await paymentFaults(ergon), [])
})
