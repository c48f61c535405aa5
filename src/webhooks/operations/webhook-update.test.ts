// The deliveries that wait, after a change of their endpoint.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressRule } from '#egress/addresses.ts'
import { addTestAccount, addTestMember, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { WebhookChange } from '#contract/webhooks/webhooks.ts'
import { updateWebhook } from './webhook-update.ts'

const callOf = (account: string) => ({
  caller: { account, token: `tok_${account}` },
  spend: { requestId: 'req_1' },
})

/** One delivered, one that waits for its next attempt, one of another endpoint. */
async function addDeliveries(state: State): Promise<void> {
  await state.query('truncate webhook_deliveries, webhook_endpoints')
  await state.query(
    `insert into webhook_endpoints (id, account, url, description, events, secret, failures, created_at)
     select 'we_' || n, 'acct_a', 'https://a.example/' || n, '', '{}', '', 2, now() from generate_series(1, 2) n`,
  )
  await state.query(
    `insert into webhook_deliveries (endpoint, event, state, attempts, next_at, since, created_at)
     values ('we_1', 'evt_done', 'delivered', 1, now() + interval '3 hours', now(), now()),
       ('we_1', 'evt_waits', 'pending', 2, now() + interval '3 hours', now(), now()),
       ('we_2', 'evt_other', 'pending', 2, now() + interval '3 hours', now(), now())`,
  )
}

/** The events that may be sent now, with the attempts that they had. */
async function dueAfter(state: State, change: WebhookChange, account = 'acct_a') {
  await addDeliveries(state)
  const given = { id: 'we_1', change, rule: createAddressRule([]) }
  await state.transaction((transaction) => updateWebhook(transaction, callOf(account), given))
  const { rows } = await state.query<{ event: string; attempts: number }>(
    'select event, attempts from due_webhook_deliveries(null, 10, 10, $1)',
    [[]],
  )
  return rows
}

test(
  'a resume and another url make waiting deliveries due at once, other changes do not',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    for (const id of ['acct_a', 'acct_b']) {
      await addTestAccount(state, { id, env: 'test', lowWater: 0n })
      await addTestMember(state, id)
    }
    const waits = [{ event: 'evt_waits', attempts: 2 }]
    assert.deepEqual(await dueAfter(state, { paused: false }), waits)
    assert.deepEqual(await dueAfter(state, { url: 'https://b.example/' }), waits)
    assert.deepEqual(await dueAfter(state, { paused: true }), [])
    assert.deepEqual(await dueAfter(state, { description: 'words' }), [])
    await assert.rejects(dueAfter(state, { paused: false }, 'acct_b'), {
      code: 'webhook_not_found',
    })
    const { rows } = await state.query('select from due_webhook_deliveries(null, 10, 10, $1)', [[]])
    assert.equal(rows.length, 0)
  },
)
