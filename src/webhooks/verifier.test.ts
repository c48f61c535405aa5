import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { newSigningSecret, signedHeaders } from '#contract/webhooks/webhook-signature.ts'
import { verifyWebhook, WebhookVerificationError } from './verifier.mjs'

const body =
  '{"event":"balance.low","event_id":"evt_1","occurred_at":"2026-01-01T00:00:00.000Z","data":{}}'
const [fresh, old, other] = [newSigningSecret(), newSigningSecret(), newSigningSecret()]
const nowS = () => Math.floor(Date.now() / 1000)
const headersOf = (secrets: readonly string[], timestamp = nowS()) =>
  signedHeaders({ id: 'evt_1', type: 'balance.low', timestamp, body, secrets })

type Verify = (body: string, headers: Record<string, string>, secret: string) => unknown

/** Libraries of others, and our own. */
const VERIFIERS: Readonly<Record<string, Verify>> = {
  'our own verifier': verifyWebhook,
  standardwebhooks: (text, headers, secret) => new Webhook(secret).verify(text, headers),
  "the stripe SDK's verifier": (text, headers, secret) =>
    Stripe.webhooks.constructEvent(text, headers['x-svc-signature'] ?? '', secret),
}

for (const [name, verify] of Object.entries(VERIFIERS)) {
  test(`${name} takes a delivery, and during a rotation with either secret`, () => {
    assert.deepEqual(verify(body, headersOf([fresh]), fresh), JSON.parse(body))
    const both = headersOf([fresh, old])
    for (const secret of [fresh, old])
      assert.deepEqual(verify(body, both, secret), JSON.parse(body))
  })

  test(`${name} refuses another body, another secret, and a time of 301 seconds ago or ahead`, () => {
    const headers = headersOf([fresh])
    assert.throws(() => verify(`${body} `, headers, fresh))
    assert.throws(() => verify(body, headers, other))
    assert.throws(() => verify(body, headersOf([old]), fresh))
    assert.throws(() => verify(body, headersOf([fresh], nowS() - 302), fresh))
    if (!name.includes('stripe'))
      assert.throws(() => verify(body, headersOf([fresh], nowS() + 302), fresh))
  })
}

test('verifyWebhook() takes bytes, headers of Fetch, several secrets, and another tolerance', () => {
  const headers = headersOf([fresh], nowS() - 400)
  const tolerant = { toleranceS: 500 }
  const fetched = new Headers(headers)
  const found = verifyWebhook<{ unit?: string }>(
    Buffer.from(body),
    fetched,
    [other, fresh],
    tolerant,
  )
  assert.equal(found.event_id, 'evt_1')
  const upper = { 'X-Svc-Signature': headers['x-svc-signature'] }
  assert.ok(verifyWebhook(body, upper, fresh, { nowMs: Date.now() - 400_000 }))
})

test('verifyWebhook() refuses headers that are missing or malformed, with one kind of error', () => {
  const { 'x-svc-signature': signature = '' } = headersOf([fresh])
  const [t = '', v1 = ''] = signature.split(',')
  for (const header of [
    '',
    t,
    v1,
    `t=,${v1}`,
    `t=1e9,${v1}`,
    `t=-1,${v1}`,
    `${t},v1=`,
    `${t},v1=00`,
    `${t},v0=${v1.slice(3)}`,
    `${t},${v1.toUpperCase()}`,
  ])
    assert.throws(
      () => verifyWebhook(body, { 'x-svc-signature': header }, fresh),
      WebhookVerificationError,
      header,
    )
  assert.throws(() => verifyWebhook(body, {}, fresh), WebhookVerificationError)
})

test('verifyWebhook() takes no empty secret: a delivery signed with it could come from anyone', () => {
  const forged = (key: string) => headersOf([key])
  for (const [secret, key] of [
    ['', ''],
    ['whsec_', 'whsec_'],
    [['', fresh], ''],
    [[fresh, 'whsec_'], 'whsec_'],
    [[], fresh],
    [undefined, ''],
    [[undefined], ''],
  ] as const)
    assert.throws(
      // Callers in JavaScript pass what their environment lacks.
      () => verifyWebhook(body, forged(key), secret as string),
      { name: 'TypeError', message: /whsec_/ },
      String(secret),
    )
})

test('verifyWebhook() takes no time and no tolerance that would end the check of the time', () => {
  const stale = headersOf([fresh], nowS() - 1_000_000)
  for (const options of [
    { toleranceS: NaN },
    { toleranceS: Infinity },
    { toleranceS: Number(undefined), nowMs: Date.now() },
    { nowMs: NaN },
  ])
    assert.throws(() => verifyWebhook(body, stale, fresh, options), RangeError)
})
