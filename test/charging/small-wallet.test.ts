// A small wallet on two gateways: neither says that it is empty while the other has it in reserve.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { untilHeard } from '../patient-fetch.ts'
import { addUpstream } from '../upstreams.ts'
import { PLAIN, TWO_GATEWAYS } from '../settings.ts'

product(PLAIN, TWO_GATEWAYS)

const CHAT = 'small-wallet'
// 5 J: some 20 answers.
const FUNDS_PUSD = 347_220n
const CALLS_MAX = 200
/** Of the price of 70 mJ: with less than that nothing is admitted. */
const LEAST_PUSD = 4862n

test('a small wallet is spent to its end on two gateways', { timeout: 120_000 }, async () => {
  const ergon = sharedErgon()
  const upstream = await addUpstream(ergon, CHAT)
  const { id } = await ergon.control('account.create', { env: 'test' })
  await ergon.control('funds.add', { account: id, pusd: String(FUNDS_PUSD) })
  const { token } = await ergon.control('token.create', { account: id })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    // The kernel chooses the gateway of each connection.
    connection: 'close',
  }
  const body = JSON.stringify({ model: CHAT, messages: [{ role: 'user', content: 'Hi' }] })
  const statuses: number[] = []
  while (statuses.at(-1) !== 402 && statuses.length < CALLS_MAX) {
    const answer = await untilHeard(
      () => fetch(`${ergon.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body }),
      ({ status }) => status !== 503,
    )
    await answer.text()
    statuses.push(answer.status)
  }
  assert.ok(statuses.length > 5 && statuses.at(-1) === 402, statuses.join(' '))
  // The reading at zero waits until both gateways have posted.
  const read = await fetch(`${ergon.baseUrl}/v1/usage`, { headers })
  assert.equal(read.status, 200)
  const [wallet] = await ergon.sql('select posted from wallets where id = $1', [`money:${id}`])
  assert.ok(BigInt(wallet?.['posted'] ?? FUNDS_PUSD) < LEAST_PUSD, JSON.stringify(wallet))
  await ergon.control('model.remove', { model: CHAT })
  await upstream.close()
})
