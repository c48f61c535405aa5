// Urls in texts that the state makes: the values of their query are masked, in stored events too.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { Secret } from '#base/log.ts'
import type { GatewayCore } from '#http/gateway-part.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { maskedUrl } from './delivery/target.ts'
import { WEBHOOKS_GATEWAY } from './gateway.ts'

const MIGRATION = new URL('./schema/0198_masked-events.sql', import.meta.url)
const QUERY = fc.array(fc.constantFrom('a', 'key', '=', '&', '?', '%3D', '\n', '\\1'), {
  maxLength: 12,
})
const URLS = fc
  .sample(QUERY, { numRuns: 300, seed: 17 })
  .map((parts, nth) => `https://a.example/${nth}&b=1${nth % 9 === 0 ? '' : '?'}${parts.join('')}`)

test('urls in events and lookups have no key of a receiver', { skip: whyNoState() }, async (t) => {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 1)
  await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })

  await t.test('masked_url() masks as maskedUrl()', async () => {
    const { rows } = await state.query<{ masked: string }>(
      'select masked_url(url) as masked from unnest($1::text[]) with ordinality as u (url, nth) order by nth',
      [URLS],
    )
    assert.deepEqual(
      rows.map(({ masked }) => masked),
      URLS.map((one) => maskedUrl(one)),
    )
  })

  await t.test('an endpoint that ends is told with its masked url', async () => {
    await state.query(
      `insert into webhook_endpoints (id, account, url, description, events, secret, created_at)
       values ('we_1', 'acct_a', 'https://a.example/?key=k3y', '', '{}', '', now())`,
    )
    await state.query(
      `with made as (insert into webhook_deliveries (endpoint, event, next_at, since, created_at)
         values ('we_1', 'evt_1', now(), now(), now()) returning id)
       select webhook_settle(jsonb_build_array(jsonb_build_object('id', id, 'endpoint', 'we_1', 'attempts', 0,
         'ok', false, 'status', 410, 'error', 'it answered 410', 'took_ms', 1, 'answer', '', 'delay_ms', 5000)))
       from made`,
    )
    const { rows } = await state.query<{ url: string }>(
      `select data ->> 'url' as url from events where type = 'webhook.disabled'`,
    )
    assert.deepEqual(rows, [{ url: 'https://a.example/?key=***' }])
  })

  await t.test('a lookup has the masked url', async () => {
    const core = { readers: state, secret: new Secret('s') } as unknown as GatewayCore
    const { lookups } = await WEBHOOKS_GATEWAY.open(core, {
      isOn: true,
      networks: [],
      servedPorts: [],
    })
    const found = await lookups?.['we']?.find('acct_a', 'we_1')
    assert.deepEqual(found, { name: 'https://a.example/?key=***', path: '/v1/webhooks/we_1' })
  })

  await t.test('the migration masks events that are there', async () => {
    await state.query('delete from events')
    await state.query(
      `insert into events (id, type, account, sequence, data)
       select 'evt_' || nth, 'webhook.disabled', 'acct_a', nth, jsonb_build_object('url', url, 'reason', 'it answered 410')
       from unnest($1::text[]) with ordinality as u (url, nth)`,
      [URLS],
    )
    await state.query(await readFile(MIGRATION, 'utf8'))
    const { rows } = await state.query<{ data: object }>(
      'select data from events order by sequence',
    )
    assert.deepEqual(
      rows.map(({ data }) => data),
      URLS.map((one) => ({ url: maskedUrl(one), reason: 'it answered 410' })),
    )
  })
})
