import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { FAILURES_BEFORE_REST } from './delivery/lane.ts'

const attempt = (id: string, ok: boolean, restMs: number | null) => ({
  id: Number(id),
  endpoint: 'we_1',
  attempts: 0,
  ok,
  status: ok ? 200 : 429,
  error: ok ? null : 'it answered 429',
  took_ms: 1,
  answer: '',
  delay_ms: 5000,
  rest_ms: restMs,
})

/** An endpoint with two deliveries, which are due. */
async function withDeliveries(state: State) {
  await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })
  await state.query(
    `insert into webhook_endpoints (id, account, url, description, events, secret, created_at)
     values ('we_1', 'acct_a', 'http://127.0.0.1/', '', '{}', '', now())`,
  )
  const { rows } = await state.query<{ id: string }>(
    `insert into webhook_deliveries (endpoint, event, next_at, since, created_at)
     select 'we_1', 'evt_' || n, now(), now(), now() from generate_series(1, 2) n returning id`,
  )
  const [first = { id: '' }, second = { id: '' }] = rows
  const settle = (one: object) => state.query('select webhook_settle($1)', [JSON.stringify([one])])
  return { first, second, settle }
}

test('the answer to an earlier attempt does not end a rest', { skip: whyNoState() }, async () => {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 1)
  const { first: asked, second: earlier, settle } = await withDeliveries(state)
  await settle(attempt(asked.id, false, 3_600_000))
  await settle(attempt(earlier.id, true, null))
  const { rows: rests } = await state.query<{ s: number }>(
    'select extract(epoch from rest_until - ledger_now())::float8 as s from webhook_endpoints',
  )
  assert.ok((rests[0]?.s ?? 0) > 3500, `${rests[0]?.s} s`)
})

test('an attempt that is recorded twice counts once', { skip: whyNoState() }, async () => {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 1)
  const { first, settle } = await withDeliveries(state)
  // The first record was stored, and the answer that says so was lost.
  for (let time = 0; time < 2; time++) await settle(attempt(first.id, false, null))
  const { rows } = await state.query(
    `select d.attempts::int, jsonb_array_length(d.failed) as failed, e.failures
     from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint where d.id = $1`,
    [first.id],
  )
  assert.deepEqual(rows, [{ attempts: 1, failed: 1, failures: 1 }])
})

test(
  'webhook_failures_before_rest() is the number of the lanes too',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    const { rows } = await state.query<{ most: number }>(
      'select webhook_failures_before_rest() as most',
    )
    assert.equal(rows[0]?.most, FAILURES_BEFORE_REST)
  },
)
