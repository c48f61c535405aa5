// Deliveries that wait: how many and for how long, and the alarm where nobody sends them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { webhookFigures } from '#status/metrics/webhook-figures.ts'
import { createBehindAlarm } from './tasks.ts'

async function openWebhooks() {
  const url = await openTestUrl()
  const state = await openLedgerState(url.of, 1)
  await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })
  const add = async (id: string, dueS: number, more = 'status = status') => {
    await state.query(
      `insert into webhook_endpoints (id, account, url, description, events, secret, created_at)
       values ($1, 'acct_a', 'http://127.0.0.1/' || $1, '', '{}', '', now())`,
      [id],
    )
    await state.query(
      `insert into webhook_deliveries (endpoint, event, next_at, since, created_at)
       values ($1, 'evt_' || $1, now() - $2 * interval '1 second', now(), now())`,
      [id, dueS],
    )
    await state.query(`update webhook_endpoints set ${more} where id = $1`, [id])
  }
  return {
    state,
    add,
    async [Symbol.asyncDispose]() {
      await state[Symbol.asyncDispose]()
      await url[Symbol.asyncDispose]()
    },
  }
}

test(
  'webhookFigures() counts what is due, and nothing that rests or waits for its time',
  {
    skip: whyNoState(),
  },
  async () => {
    await using opened = await openWebhooks()
    assert.deepEqual(await webhookFigures(opened.state), { waiting: 0, ageS: 0 })
    await opened.add('due', 700)
    await opened.add('later', -60)
    await opened.add('paused', 900, "status = 'paused'")
    await opened.add('resting', 900, "rest_until = now() + interval '1 minute'")
    const { waiting, ageS } = await webhookFigures(opened.state)
    assert.equal(waiting, 1)
    assert.ok(ageS >= 700 && ageS < 800, `${ageS}`)
  },
)

test(
  'createBehindAlarm() alarms once where endpoints have no attempt, at two looks in a row',
  {
    skip: whyNoState(),
  },
  async () => {
    await using opened = await openWebhooks()
    const { state, add } = opened
    const alarms = async () =>
      (
        await state.query<{ kind: string; endpoints: string }>(
          "select kind, detail ->> 'endpoints' as endpoints from alarms",
        )
      ).rows
    const look = createBehindAlarm(state)
    await add('new', 500)
    await add('slow', 900, 'failed_at = now()')
    await add('answering', 900, 'succeeded_at = now()')
    for (let nth = 0; nth < 3; nth++) await look()
    assert.deepEqual(await alarms(), [])
    await add('left', 700, "succeeded_at = now() - interval '700 seconds'")
    await look()
    assert.deepEqual(await alarms(), [], 'a product that just started sends it soon')
    await look()
    await look()
    assert.deepEqual(await alarms(), [{ kind: 'webhooks_behind', endpoints: '1' }])
  },
)
