// The secrets that sign deliveries after rotations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressRule } from '#egress/addresses.ts'
import type { Reply } from '#http/reply.ts'
import { addTestAccount, addTestMember, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { createQueue } from '#webhooks/delivery/queue.ts'
import { sealSecret, webhookKeyOf } from '#webhooks/delivery/secrets.ts'
import { webhookWithSecret, type WebhookWithSecret } from '#contract/webhooks/webhooks.ts'
import { createWebhookRotate, OLD_SECRETS_MAX } from './webhook-rotate.ts'

const key = webhookKeyOf('the secret of a test')
const caller = { account: 'acct_a', token: 'tok_acct_a' }

test(
  'each secret signs for a day after its rotation, however many follow',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 4)
    await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })
    await addTestMember(state, 'acct_a')
    const first = 'whsec_first'
    await state.query(
      `insert into webhook_endpoints (id, account, url, description, events, secret, created_at)
       values ('we_1', 'acct_a', 'https://a.example/', '', '{}', $1, now())`,
      [sealSecret(first, key, 'we_1')],
    )
    await state.query(
      `insert into webhook_deliveries (endpoint, event, sample, next_at, since, created_at)
       values ('we_1', 'evt_1', '{"type": "balance.low", "data": {}}', now(), now(), now())`,
    )
    const handle = createWebhookRotate({ state, key, rule: createAddressRule([]), isOn: true })
    const rotate = async (): Promise<WebhookWithSecret> => {
      const call = { caller, parameters: { webhook: 'we_1' }, spend: { requestId: 'req_1' } }
      const reply = (await handle(call as never)) as Extract<Reply, { kind: 'known' }>
      return webhookWithSecret.parse(reply.body(undefined as never))
    }
    const queue = createQueue({ state, key })
    const signing = async () => {
      const [endpoint] = await queue.due({ endpoints: undefined, each: 9, most: 9, known: [] })
      return endpoint?.secrets
    }
    const pass = (hours: number) =>
      state.query(
        `update webhook_endpoints set old_secrets = (select jsonb_agg(o || jsonb_build_object('until',
           (o ->> 'until')::timestamptz - $1 * interval '1 hour')) from jsonb_array_elements(old_secrets) o)`,
        [hours],
      )

    assert.deepEqual(await signing(), [first])
    const { secret: second } = await rotate()
    await pass(20)
    const { secret: third, previous_secret_until: until } = await rotate()
    assert.deepEqual(await signing(), [third, second, first])
    assert.ok(Date.parse(until ?? '') > Date.now() + 23 * 3_600_000)
    await pass(5)
    assert.deepEqual(await signing(), [third, second])
    await state.query('select webhook_upkeep(30, 10)')
    const { rows } = await state.query<{ count: number }>(
      'select jsonb_array_length(old_secrets) as count from webhook_endpoints',
    )
    assert.deepEqual(rows, [{ count: 1 }])

    // One that cannot be read holds up nothing.
    await state.query(`update webhook_endpoints set secret = 'e1.damaged'`)
    assert.deepEqual(await signing(), [])
    const { secret: mended } = await rotate()
    assert.deepEqual(await signing(), [mended, second])

    // Of parallel rotations none is lost; the number is bounded, as each makes the header longer.
    await pass(100)
    const made = await Promise.all(Array.from({ length: 4 }, rotate))
    const signed = await signing()
    assert.equal(signed?.length, 5)
    assert.ok([mended, ...made.map(({ secret }) => secret)].every((one) => signed?.includes(one)))
    for (let nth = 0; nth < OLD_SECRETS_MAX; nth++) await rotate()
    assert.equal((await signing())?.length, OLD_SECRETS_MAX + 1)
  },
)
