// Adding a card where earlier ones were never given, and where the processor does not answer.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { fault } from '#contract/errors.ts'
import type { MethodRequest } from '#contract/payments/payments.ts'
import type { BegunKey, OperationCall } from '#http/reply.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { CARDS_PER_DAY_MAX, METHODS_MAX } from '#payments/pace.ts'
import { applyFacts } from '#payments/start-payment.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createMethodCreate } from './payment-method-create.ts'

const OPTIONS = { skip: whyNoState() }

let state: State
let closed: string[] = []
ledgerOfFile(2, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
  await addTestMember(state, 'owner')
})
beforeEach(async () => {
  closed = []
  await state?.query('delete from payment_methods')
})

/** Cards with a page each, the first is the oldest. */
const addCards = async (count: number, status: string) =>
  await state.query(
    `insert into payment_methods (id, account, processor, setup, page, state, created_at)
     select 'card_' || n, 'owner', 'card-test', 'seti_' || n, 'cs_' || n, $2, now() - make_interval(mins => 99 - n)
     from generate_series(1, $1::int) n`,
    [count, status],
  )

const adapter = {
  name: 'card-test',
  env: 'test',
  customer: () => Promise.resolve('cus_1'),
  setUp: ({ method }: { method: string }) =>
    Promise.resolve({
      reference: `seti_${method}`,
      page: `cs_${method}`,
      action: { url: 'https://page.example', client_secret: null },
    }),
  closePage: (page: string) => Promise.resolve(void closed.push(page)),
} as Partial<PaymentAdapter> as PaymentAdapter

const create = async (with_: Partial<PaymentAdapter> = {}, begun?: BegunKey) =>
  await createMethodCreate({ state, adapters: [{ ...adapter, ...with_ }] })({
    caller: {
      account: 'owner',
      token: 'tok_owner',
      member: 'mem_owner',
      role: 'owner',
      env: 'test',
    },
    body: { type: 'card' },
    spend: { requestId: 'req_1' },
    begun,
  } as unknown as OperationCall<MethodRequest>)
const stateOf = async (id: string) =>
  (
    await state.query<{ state: string }>(
      'select state from payment_methods where id = $1 or setup = $1',
      [id],
    )
  ).rows[0]?.state
const countOf = async (status: string) =>
  Number(
    (await state.query('select count(*) from payment_methods where state = $1', [status]))
      .rows[0]?.['count'],
  )

test(
  'the oldest card that was never given makes room, and its page is closed',
  OPTIONS,
  async () => {
    await addCards(METHODS_MAX, 'pending')
    await create()
    assert.deepEqual(closed, ['cs_1'])
    assert.equal(await stateOf('card_1'), 'removed')
    assert.equal(await countOf('pending'), METHODS_MAX)
    const { rows } = await state.query(
      "select target from audit_entries where action = 'payment-method.delete'",
    )
    assert.deepEqual(rows, [{ target: 'card_1' }])
  },
)

test('cards that pay make no room', OPTIONS, async () => {
  await addCards(METHODS_MAX, 'active')
  await assert.rejects(create(), { code: 'too_many_cards' })
  assert.equal(await countOf('active'), METHODS_MAX)
})

test('a refusal for the pace closes no page', OPTIONS, async () => {
  await addCards(CARDS_PER_DAY_MAX, 'pending')
  await assert.rejects(create(), { code: 'payment_pace_exceeded' })
  assert.deepEqual(closed, [])
})

test(
  'a card whose set-up has no answer is removed, and forgotten if it was made',
  OPTIONS,
  async () => {
    const away = fault('payment_processor_away', 'Could not ask the payment processor')
    await assert.rejects(create({ setUp: () => Promise.reject(away) }), {
      code: 'payment_processor_away',
    })
    assert.equal(await countOf('pending'), 0)
    const { rows } = await state.query<{ id: string }>('select id from payment_methods')
    const told = { id: 'f1', type: 'method_ready', card: rows[0]?.id, method: 'pm_1' }
    await applyFacts(state, 'card-test', [told])
    const forgotten = await state.query('select from payment_methods where to_forget')
    assert.equal(forgotten.rowCount, 1)
  },
)

test('with a key the set-up without an answer is there for the repetition', OPTIONS, async () => {
  const away = fault('payment_processor_away', 'Could not ask the payment processor')
  const begun = { before: undefined, keep: () => Promise.resolve() }
  await assert.rejects(create({ setUp: () => Promise.reject(away) }, begun))
  assert.equal(await countOf('pending'), 1)
})
