// A small wallet on three gateways: none says that it is empty while another has it in reserve, and many clients at once
// never spend more than it has.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { untilHeard } from '../patient-fetch.ts'
import { addUpstream } from '../upstreams.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN, { ERGON_GATEWAYS: '3' })

const CHAT = 'small-wallet'
// 5 J: some 20 answers.
const FUNDS_PUSD = 347_220n
const CALLS_MAX = 200
/** Of the price of 70 mJ: with less than that nothing is admitted. */
const LEAST_PUSD = 4862n
const CLIENTS = 64

let upstream: Awaited<ReturnType<typeof addUpstream>>
before(async () => {
  upstream = await addUpstream(sharedErgon(), CHAT)
})
after(async () => {
  await sharedErgon().control('model.remove', { model: CHAT })
  await upstream.close()
})

/** The headers of a new account with these funds. */
async function payer(pusd: bigint): Promise<{ account: string; headers: Record<string, string> }> {
  const { id: account } = await sharedErgon().control('account.create', { env: 'test' })
  await sharedErgon().control('funds.add', { account, pusd: String(pusd) })
  const { token } = await sharedErgon().control('token.create', { account })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    // The kernel chooses the gateway of each connection.
    connection: 'close',
  }
  return { account, headers }
}

/** Sends chats until the balance is depleted. Returns the statuses. */
async function spend(headers: Record<string, string>): Promise<number[]> {
  const body = JSON.stringify({ model: CHAT, messages: [{ role: 'user', content: 'Hi' }] })
  const statuses: number[] = []
  while (statuses.at(-1) !== 402 && statuses.length < CALLS_MAX) {
    const answer = await untilHeard(
      () =>
        fetch(`${sharedErgon().baseUrl}/v1/chat/completions`, { method: 'POST', headers, body }),
      ({ status }) => status !== 503,
    )
    await answer.text()
    statuses.push(answer.status)
  }
  return statuses
}

/** The rest and the sum of the charges, once all gateways have posted: a reading at zero waits for that. */
async function booksOf(account: string, headers: Record<string, string>) {
  const read = await fetch(`${sharedErgon().baseUrl}/v1/usage`, { headers })
  assert.equal(read.status, 200)
  await read.text()
  const [row] = await sharedErgon().sql<{ left: string; charged: string }>(
    `select w.posted::text as left, (select coalesce(sum(charge_pusd), 0)::text from charges
       where account = $1) as charged from wallets w where id = 'money:' || $1`,
    [account],
  )
  return { left: BigInt(row?.left ?? ''), charged: BigInt(row?.charged ?? '') }
}

test('a small wallet is spent to its end on three gateways', { timeout: 120_000 }, async () => {
  const { account, headers } = await payer(FUNDS_PUSD)
  const statuses = await spend(headers)
  assert.ok(statuses.length > 5 && statuses.at(-1) === 402, statuses.join(' '))
  const { left } = await booksOf(account, headers)
  assert.ok(left < LEAST_PUSD, String(left))
})

test('64 clients at once on three gateways never oversell it', { timeout: 120_000 }, async () => {
  const funds = 4n * FUNDS_PUSD
  const { account, headers } = await payer(funds)
  const all = await Promise.all(Array.from({ length: CLIENTS }, () => spend(headers)))
  for (const statuses of all) {
    assert.equal(statuses.at(-1), 402)
    assert.ok(
      statuses.slice(0, -1).every((status) => status === 200),
      statuses.join(' '),
    )
  }
  const { left, charged } = await booksOf(account, headers)
  assert.equal(left + charged, funds)
  // Nobody is refused while a whole request could be paid, and nothing is below zero.
  assert.ok(left >= 0n && left < LEAST_PUSD, String(left))
})
