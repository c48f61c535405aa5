// Requests for money whose clients leave, and whose gateway and processor are killed or hang, at random moments. Each is
// repeated with its key until it is answered, and is done once.
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, type Payer } from './client.ts'
import {
  addCard,
  CARDS,
  CENT,
  paid,
  paymentFaults,
  processorAnswers,
  runTask,
  until,
} from './processor.ts'

product(CARDS)

const PAYERS = 4
/** Few enough for the limits of cards, packs that wait and payments under way. */
const ROUNDS = 3
const DISTURBANCES = 4
/** Clients of the first attempts leave after so long at most; a request takes 20 to 60 ms. */
const LEAVES_MS_MAX = 80
const LEAVES = 4
const ANSWERED_MS_MAX = 120_000

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
})

type Wanted = { readonly action: string; readonly path: string; readonly body: object }
type Asked = { readonly status: number; readonly json: Readonly<Record<string, unknown>> }

/** Repeats a request under one key until its outcome is known. */
async function insist({ token }: Payer, { path, body }: Wanted): Promise<Asked> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const lastMs = performance.now() + ANSWERED_MS_MAX
  for (let attempt = 0; performance.now() < lastMs; attempt++) {
    const leavesMs = attempt < LEAVES ? randomInt(2, LEAVES_MS_MAX) : ANSWERED_MS_MAX
    const answer = await ask(path, { headers, body: JSON.stringify(body) }, leavesMs)
    const isOpen =
      answer === undefined ||
      answer.status >= 500 ||
      answer.json['title'] === 'idempotency_in_progress'
    if (!isOpen) return answer
    await pause(randomInt(1, 100))
  }
  throw new TypeError(`${path} has no outcome`)
}

async function ask(
  path: string,
  sent: { readonly headers: Record<string, string>; readonly body: string },
  leavesMs: number,
): Promise<Asked | undefined> {
  const signal = AbortSignal.timeout(leavesMs)
  try {
    const answer = await fetch(ergon.baseUrl + path, { method: 'POST', ...sent, signal })
    return { status: answer.status, json: (await answer.json()) as Asked['json'] }
  } catch {
    return undefined
  }
}

/** The requests of a round, each for another amount. */
async function wantedOf(round: number, topup: string): Promise<Wanted[]> {
  const [voucher] = await ergon.control('voucher.create', { pusd: '1000', env: 'test' })
  const month = { from: '2026-01-01T00:00:00Z', to: `2026-02-0${round + 1}T00:00:00Z` }
  return [
    { action: 'topup.create', path: '/v1/topups', body: { amount: `1.0${round}` } },
    {
      action: 'topup.refund',
      path: `/v1/topups/${topup}/refunds`,
      body: { amount: `0.1${round}` },
    },
    {
      action: 'voucher.redeem',
      path: '/v1/vouchers/redeem',
      body: { code: voucher?.code },
    },
    {
      action: 'payment-method.create',
      path: '/v1/payment-methods',
      body: { type: 'card', token: 'pm_card_visa' },
    },
    { action: 'pack.create', path: '/v1/compliance/packs', body: month },
  ]
}

/** Kills and stops what the requests need, some times. */
async function disturb(): Promise<void> {
  for (let nth = 0; nth < DISTURBANCES; nth++) {
    await pause(randomInt(100, 700))
    const processor = await ergon.pidOf('test-processor').catch(() => undefined)
    if (nth % 2 === 0) {
      await ergon.killCell('gw-1')
      await ergon.answers()
    } else if (processor !== undefined && randomInt(2) === 0) {
      process.kill(processor, 'SIGSTOP')
      await pause(randomInt(100, 700))
      process.kill(processor, 'SIGCONT')
    } else if (processor !== undefined) {
      await ergon.killCell('test-processor')
      await processorAnswers(ergon)
    }
  }
}

const done = (account: string, action: string) =>
  ergon.sql<{ target: string }>(
    'select target from audit_entries where account = $1 and action = $2',
    [account, action],
  )

test('a request that is repeated with its key, among kills, is done once', async (t) => {
  const payers = await Promise.all(
    Array.from({ length: PAYERS }, async () => {
      const payer = await newPayer(ergon)
      await addCard(payer)
      return { payer, topup: (await paid(payer, { amount: '20.00' })).id }
    }),
  )
  const disturbed = disturb()
  await Promise.all(
    payers.map(async ({ payer, topup }) => {
      for (let round = 0; round < ROUNDS; round++)
        for (const wanted of await wantedOf(round, topup)) {
          const { status, json } = await insist(payer, wanted)
          assert.ok(status >= 200 && status < 300, `${wanted.action}: ${JSON.stringify(json)}`)
        }
    }),
  )
  await disturbed
  // Lost webhooks are asked for. Other files of this product leave payments of their own.
  const accounts = payers.map(({ payer }) => payer.account)
  await until(async () => {
    await runTask(ergon, 'payments.reconcile')
    const [open] = await ergon.sql<{ count: number }>(
      `select (select count(*) from payments where state = 'created' and account = any ($1))::int
         + (select count(*) from payment_refunds r join payments p on p.id = r.payment
              where r.state = 'pending' and p.account = any ($1))::int as count`,
      [accounts],
    )
    return open?.count === 0
  })
  for (const { payer, topup } of payers) {
    for (const { action } of await wantedOf(0, topup)) {
      // One payment and one card were there before.
      const isBefore = action === 'topup.create' || action === 'payment-method.create'
      const times = ROUNDS + (isBefore ? 1 : 0)
      assert.equal((await done(payer.account, action)).length, times, action)
    }
    const [sums] = await ergon.sql<{ paid: string; back: string; charged: string }>(
      `select (select sum(amount_pusd)::text from payments where account = $1 and state = 'captured') as paid,
         (select sum(r.amount_pusd)::text from payment_refunds r join payments p on p.id = r.payment
            where p.account = $1 and r.state = 'succeeded') as back,
         (select sum((body ->> 'amount_received')::numeric)::text from test_processor_objects
            where kind = 'payment_intent' and body -> 'metadata' ->> 'account' = $1) as charged`,
      [payer.account],
    )
    const cents = 2000n + 100n + 101n + 102n
    assert.deepEqual(sums, {
      paid: String(cents * CENT),
      back: String((10n + 11n + 12n) * CENT),
      charged: String(cents),
    })
  }
  t.diagnostic(`${PAYERS * ROUNDS * 5} keys`)
})

test('a request that its processor keeps waiting goes on after its client has left', async () => {
  const payer = await newPayer(ergon)
  await addCard(payer)
  const headers = {
    authorization: `Bearer ${payer.token}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const sent = { headers, body: '{"amount":"3.00"}' }
  const processor = await ergon.pidOf('test-processor')
  process.kill(processor, 'SIGSTOP')
  try {
    assert.equal(await ask('/v1/topups', sent, 1000), undefined)
    const again = await ask('/v1/topups', sent, ANSWERED_MS_MAX)
    assert.equal(again?.json['title'], 'idempotency_in_progress')
  } finally {
    process.kill(processor, 'SIGCONT')
  }
  let last: Asked | undefined
  await until(async () => {
    last = await ask('/v1/topups', sent, ANSWERED_MS_MAX)
    return last?.json['title'] !== 'idempotency_in_progress'
  })
  assert.equal(last?.status, 201, JSON.stringify(last))
  const made = await done(payer.account, 'topup.create')
  assert.deepEqual(
    made.map(({ target }) => target),
    [last?.json['id']],
  )
})

test('the books add up after repeated payments', async () => {
  assert.deepEqual(await paymentFaults(ergon), [])
})
