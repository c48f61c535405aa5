// One number: the energy of a request has the same digits in a header, in the body, in GET /v1/usage/last and on the
// signed receipt.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import { energyHeaderFaults } from './energy-headers.ts'
import {
  call,
  chargeOn,
  instance,
  needing,
  offered,
  QUESTION,
  receiptText,
  TRIES_MAX,
} from './world.ts'

const messages = [{ role: 'user', content: QUESTION }]
const chat = () => ({ model: offered('chat'), messages, max_tokens: 16, temperature: 0 })

/** The raw text of a JSON number, as the body has it. */
const numberIn = (text: string, name: string): string | undefined =>
  new RegExp(`"${name}":(-?[0-9.eE+-]+)`).exec(text)?.[1]

/** An integer of 10⁻⁹ as a decimal: no exponent, no trailing zeros. */
function decimal(amount: string): string {
  const digits = amount.padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Both figures on the receipt, as headers print them. */
async function figuresOn(receipt: string) {
  const { energy_nj: energy, carbon_pg: carbon } = await chargeOn(receipt)
  return { joules: decimal(energy), milligrams: decimal(carbon) }
}

/** A stream with its trailers, which fetch hides. A reply that asks to come again is asked again, as SDKs do. */
async function stream(body: object) {
  for (let left = TRIES_MAX; ; left--) {
    const { statusCode, headers, trailers, ...answer } = await request(
      `${instance().baseUrl}/v1/chat/completions`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${instance().token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      },
    )
    const text = await answer.body.text()
    if (statusCode !== 503 || left === 0) return { status: statusCode, headers, trailers, text }
    await pause(1000)
  }
}

describe('one number', () => {
  for (const [name, offer, path, bodyOf] of [
    ['chat', 'chat', '/v1/chat/completions', chat],
    [
      'a completion',
      'chat',
      '/v1/completions',
      () => ({ model: offered('chat'), prompt: 'One two', max_tokens: 4 }),
    ],
    ['an embedding', 'embedding', '/v1/embeddings', () => ({ model: 'auto', input: QUESTION })],
  ] as const)
    needing(offer)(`of ${name}: header, body, usage/last and receipt`, async () => {
      const answer = await call(path, { body: bodyOf() })
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [])
      const joules = answer.headers.get('x-energy-joules') ?? ''
      const milligrams = answer.headers.get('x-carbon-mg') ?? ''
      assert.equal(numberIn(text, 'energy_j'), joules)
      assert.equal(numberIn(text, 'carbon_mg'), milligrams)

      const last = await (await call('/v1/usage/last')).text()
      assert.equal(numberIn(last, 'energy_j'), joules)
      assert.equal(numberIn(last, 'carbon_mg'), milligrams)
      const record = JSON.parse(last) as Record<string, unknown>
      assert.equal(record['request_id'], answer.headers.get('x-request-id'))
      assert.equal(record['model'], (JSON.parse(text) as { model: string }).model)
      const [operator, region] = answer.headers.get('x-routed-to')?.split('/') ?? []
      assert.deepEqual([record['operator'], record['region']], [operator, region])

      const receipt = answer.headers.get('x-receipt-id') ?? ''
      assert.deepEqual(await figuresOn(receipt), { joules, milligrams })
    })

  needing('chat')('of a stream: the last usage, the trailers, usage/last and receipt', async () => {
    const asked = { ...chat(), stream: true, stream_options: { include_usage: true } }
    const { status, headers, trailers, text } = await stream(asked)
    assert.equal(status, 200, text)
    const { joules, milligrams } = await figuresOn(String(headers['x-receipt-id']))
    assert.equal(numberIn(text, 'energy_j'), joules)
    // The message has all that came, so that a missing trailer explains itself.
    const all = JSON.stringify({ headers, trailers, end: text.slice(-400) })
    assert.equal(trailers['x-energy-joules'], joules, all)
    assert.equal(trailers['x-carbon-mg'], milligrams, all)
    assert.equal(headers['x-energy-estimate'], 'ceiling')
    assert.ok(Number(headers['x-energy-joules']) >= Number(joules))
    const last = await (await call('/v1/usage/last')).text()
    assert.equal(numberIn(last, 'energy_j'), joules)
  })

  needing()('of a request without a model: header and receipt, and a proof as text', async () => {
    const answer = await call('/v1/models')
    await answer.body?.cancel()
    const receipt = answer.headers.get('x-receipt-id') ?? ''
    const joules = answer.headers.get('x-energy-joules') ?? ''
    const milligrams = answer.headers.get('x-carbon-mg') ?? ''
    assert.deepEqual(await figuresOn(receipt), { joules, milligrams })
    assert.match(await receiptText(receipt, 'text/plain'), /^c2sp\.org\/tlog-proof@v1\n/)
  })
})
