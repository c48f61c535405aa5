// Transfers of a token that the payer makes and claims, and refunds, which the operator sends.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import type { TopupReply } from '#contract/payments/payments.ts'
import { newPayer, type Payer } from './client.ts'
import { REFUSED_CLAIMS_PER_DAY_MAX } from '#payments/stablecoin/claim-pace.ts'
import { NETWORK, USD } from './chain/chain.ts'
import {
  claim,
  codeOf,
  CONFIRMATIONS,
  look,
  lookAgain,
  newWallet,
  reasonOf,
  STABLECOINS,
  testCoins,
  topupOf,
} from './chain/stablecoins.ts'
import { balanceOf, DOLLAR, settled, until } from './processor.ts'

product(STABLECOINS)

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

test('a transfer that the sender claims pays what it brought, with what is below a cent', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 7n * USD + 123n])
  const made = await claim(payer, { transaction, from })
  assert.equal(made.status, 201, made.text)
  await chain.mine(CONFIRMATIONS)
  await look(ergon)
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
  await look(ergon)
  await settled(payer, id, 'captured')
  assert.ok((await balanceOf(payer)) > 4n * DOLLAR)
})

test('a transfer is paid to whom its sender names, and only one of this token to us', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const thief = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 5n * USD])
  const others = [
    await claim(thief.payer, { transaction, from: thief.from }),
    // The sender named another account.
    await claim(await newPayer(ergon), { transaction, from, account: payer.account }),
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
    data: { id: string; status: string }[]
  }
  assert.equal(listed.data[0]?.status, 'captured')
  const back = await cli('refund', listed.data[0]?.id ?? '', '--amount', '1.00')
  assert.match(back.stderr, /The operator sends the tokens to the wallet that paid, or refuses/)
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

test('a refund waits for the operator, who sends the tokens back, once, or refuses', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 9n * USD])
  const made = await claim(payer, { transaction, from })
  await chain.mine(CONFIRMATIONS)
  await lookAgain(ergon)
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
  await lookAgain(ergon)
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

test('two refunds that are settled at once by one transfer are one', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const topups: string[] = []
  for (const units of [2n * USD, 3n * USD]) {
    const transaction = await chain.send(from, 'transfer', [chain.receiver, units])
    topups.push(String((await claim(payer, { transaction, from })).json['id']))
  }
  await chain.mine(20)
  await lookAgain(ergon)
  const refunds: string[] = []
  for (const id of [topups[0], topups[1], topups[1]]) {
    const begun = await payer.call('POST', `/v1/topups/${id}/refunds`, { amount: '1.00' })
    assert.equal(begun.status, 201, begun.text)
    refunds.push(String(begun.json['id']))
  }
  const transaction = await chain.send(9, 'transfer', [chain.account(from).address, USD])
  await chain.mine(CONFIRMATIONS)
  const ends = await Promise.allSettled(
    refunds.map((refund) => ergon.control('refund.settle', { refund, transaction })),
  )
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))
  assert.equal(refused.length, 2)
  for (const reason of refused) assert.match(reason, /another refund/)
  const states = await ergon.sql(
    'select state, count(*)::int from payment_refunds where id = any ($1) group by state order by state',
    [refunds],
  )
  assert.deepEqual(states, [
    { state: 'pending', count: 2 },
    { state: 'succeeded', count: 1 },
  ])
  for (const refund of refunds) await ergon.control('refund.refuse', { refund }).catch(() => {})
})

test('claims that are refused have a pace, and a transfer that no block has is claimed again', async () => {
  const { chain } = testCoins()
  const { payer, from } = await newWallet(ergon)
  const unknown = (nth: number) => `0x${String(nth).padStart(64, '0')}`
  const first = { transaction: unknown(1), from }
  for (let nth = 1; nth <= REFUSED_CLAIMS_PER_DAY_MAX; nth++)
    assert.equal(
      codeOf(await claim(payer, { transaction: unknown(nth), from })),
      'transfer_pending',
    )
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 5n * USD])
  const late = await claim(payer, { transaction, from })
  assert.deepEqual([late.status, codeOf(late)], [429, 'payment_pace_exceeded'])
  assert.ok(Number(late.headers.get('retry-after')) > 86_000)
  assert.ok((await claim((await newWallet(ergon)).payer, first)).status !== 429)
  await ergon.sql("update refused_claims set at = at - interval '2 seconds' where account = $1", [
    payer.account,
  ])
  assert.equal(codeOf(await claim(payer, first)), 'transfer_pending')
  const soon = await claim(payer, first)
  assert.deepEqual([codeOf(soon), soon.headers.get('retry-after')], ['payment_pace_exceeded', '1'])
  await ergon.sql("update refused_claims set at = at - interval '1 day' where account = $1", [
    payer.account,
  ])
  assert.equal((await claim(payer, { transaction, from })).status, 201)
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
  await look(ergon)
  const [sum] = await ergon.sql(
    "select sum(amount)::text as pusd from transfers where kind = 'top_up' and debit = 'operator:funds:tUSD' and credit = any ($1)",
    [[`money:${payer.account}`, `money:${other.account}`]],
  )
  assert.equal(sum?.['pusd'], String(5n * DOLLAR))
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
