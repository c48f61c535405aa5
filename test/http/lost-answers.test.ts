// Each operation that takes an Idempotency-Key, with an answer that is lost: the work is done, and its key has no answer. Repetitions
// find what the first request began, and begin nothing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { OPERATIONS } from '#contract/operations.ts'
import { bookFaults } from '../books.ts'
import { newPayer, type Answer, type Payer } from '../payments/client.ts'
import { addCard, CARDS, paid, processorAnswers } from '../payments/processor.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'

product(CARDS)

const REPETITIONS = 2
const RETRY_MS = 50
/** Their work ends with the request: a repetition that finds no answer runs again. */
const ENDS_WITH_REQUEST = ['chat.create', 'completion.create', 'embedding.create']

let ergon: Ergon
let payer: Payer
let topup = ''
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
  payer = await newPayer(ergon)
  await addCard(payer)
  topup = (await paid(payer, { amount: '20.00' })).id
  await ergon.sql(
    `create or replace function lose_answer() returns trigger language plpgsql as $$
     begin raise exception 'lost'; end $$`,
  )
  await ergon.sql(
    `create or replace trigger lose_answers before update of status on idempotency_keys for each row
     when (new.key like 'lost-%' and new.status is not null) execute function lose_answer()`,
  )
})

type Lost = {
  readonly path: () => string | Promise<string>
  readonly body: () => object | Promise<object>
  /** Only the id stays: the rest tells the present state. */
  readonly changes?: true
}
const at =
  (path: string): Lost['path'] =>
  () =>
    path
const code = { file: 'index.mjs', source: "export default () => new Response('once')" }
const month = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }
const DATABASE = '/v1/databases/once'
const MADE_MS = 200

const OPERATIONS_WITH_KEY: Readonly<Record<string, Lost>> = {
  'topup.create': { path: at('/v1/topups'), body: () => ({ amount: '2.00' }), changes: true },
  'topup.refund': {
    path: () => `/v1/topups/${topup}/refunds`,
    body: () => ({ amount: '0.50' }),
  },
  'payment-method.create': {
    path: at('/v1/payment-methods'),
    body: () => ({ type: 'card', token: 'pm_card_visa' }),
    changes: true,
  },
  'voucher.redeem': {
    path: at('/v1/vouchers/redeem'),
    body: async () => {
      const [made] = await ergon.control('voucher.create', { pusd: '1000', env: 'test' })
      return { code: made?.code }
    },
  },
  'pack.create': { path: at('/v1/compliance/packs'), body: () => month },
  'webhook.test': { path: webhook('/test'), body: () => ({ event: 'balance.low' }) },
  'webhook.replay': {
    path: webhook('/replay'),
    body: () => ({ from: month.from, delivered: true }),
  },
  'function.deploy': { path: at('/v1/functions'), body: () => ({ name: 'once', ...code }) },
  'workload.deploy': {
    path: at('/v1/workloads'),
    body: () => ({ name: 'once', image: '127.0.0.1:1/once' }),
  },
  'deployment.create': {
    path: at('/v1/deployments'),
    body: () => ({ stack: 'once', description: '' }),
  },
  'database.create': { path: at('/v1/databases'), body: () => ({ name: 'once' }) },
  'database-role.create': {
    path: at(`${DATABASE}/roles`),
    body: () => ({ name: 'reporting' }),
  },
  'database-backup.create': {
    path: async () => {
      // The backup of a database that is still being made is refused.
      while ((await payer.call('GET', DATABASE)).json['status'] !== 'deployed') await pause(MADE_MS)
      return `${DATABASE}/backups`
    },
    body: () => ({}),
  },
}

function webhook(verb: string): Lost['path'] {
  return async () => {
    const url = `https://example.com${verb}`
    const made = await payer.call('POST', '/v1/webhooks', { url, events: ['balance.low'] })
    return `/v1/webhooks/${String(made.json['id'])}${verb}`
  }
}

test('the operations that take a key are these', () => {
  const taken = Object.entries(OPERATIONS).filter(([, { idempotent }]) => idempotent)
  const names = taken.map(([name]) => name).toSorted()
  assert.deepEqual(names, [...Object.keys(OPERATIONS_WITH_KEY), ...ENDS_WITH_REQUEST].toSorted())
})

/** The key is given back a moment after the answer. */
async function askedAgain(
  path: string,
  body: object,
  key: Readonly<Record<string, string>>,
): Promise<Answer> {
  for (;;) {
    const answer = await payer.call('POST', path, body, key)
    if (answer.json['title'] !== 'idempotency_in_progress') return answer
    await pause(RETRY_MS)
  }
}

const timesDone = async (action: string): Promise<number> => {
  const { json } = await payer.call('GET', `/v1/audit?action=${action}&limit=100`)
  return (json['data'] as unknown[]).length
}

for (const [action, lost] of Object.entries(OPERATIONS_WITH_KEY))
  test(`${action} is done once though its answer is lost`, async () => {
    const [path, body] = [await lost.path(), await lost.body()]
    const key = { 'idempotency-key': `lost-${randomUUID()}` }
    const before = await timesDone(action)
    const ask = () => askedAgain(path, body, key)
    const first = await ask()
    assert.ok(first.status >= 200 && first.status < 300, first.text)
    for (let nth = 0; nth < REPETITIONS; nth++) {
      const again = await ask()
      assert.deepEqual(
        [again.status, again.headers.get('idempotency-replayed')],
        [first.status, null],
        again.text,
      )
      if (lost.changes === true) assert.equal(again.json['id'], first.json['id'])
      else assert.deepEqual(again.json, first.json)
    }
    assert.equal(await timesDone(action), before + 1)
  })

test('work that was begun goes to the same body alone', async () => {
  const key = { 'idempotency-key': `lost-${randomUUID()}` }
  const ask = (amount: string) => askedAgain('/v1/topups', { amount }, key)
  assert.equal((await ask('2.00')).status, 201)
  assert.equal((await ask('3.00')).json['title'], 'idempotency_key_reused')
})

test('the books add up after lost answers', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
})
