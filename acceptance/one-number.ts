// One number: what a request cost is told in a header, in the body, by GET /v1/usage/last, in the
// ledger and on the signed receipt, and it is the same digits everywhere.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import { bookFaults, chargeOf, joulesOf, milligramsOf } from '../test/books.ts'
import { forgedReceipt } from '../test/receipts/forged-receipt.ts'
import { energyHeaderFaults } from '../test/raw-http.ts'
import { CHAT_MODEL, QUESTION, type World } from './world.ts'

const SEALED_MAX_MS = 60_000
const messages = [{ role: 'user', content: QUESTION }]
const chat = { model: CHAT_MODEL, messages, max_tokens: 16, temperature: 0 }

export function oneNumberTests(world: () => World): void {
  const call = (path: string, body?: object, accept = 'application/json') =>
    fetch(world().ergon.baseUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${world().apiKey}`,
        'content-type': 'application/json',
        accept,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  /** The raw text of a JSON number, as it stands in the body. */
  const numberIn = (text: string, name: string): string | undefined =>
    new RegExp(`"${name}":(-?[0-9.eE+-]+)`).exec(text)?.[1]

  async function receiptText(id: string, accept: string): Promise<string> {
    const deadline = performance.now() + SEALED_MAX_MS
    for (;;) {
      const answer = await call(`/v1/receipts/${id}`, undefined, accept)
      const text = await answer.text()
      if (answer.status === 200) return text
      assert.equal(answer.status, 202, text)
      assert.equal(answer.headers.get('retry-after'), '1')
      if (performance.now() > deadline) throw new Error(`${id} is not sealed`)
      await pause(100)
    }
  }

  describe('one number', () => {
    for (const [what, path, body] of [
      ['chat', '/v1/chat/completions', chat],
      ['a completion', '/v1/completions', { model: CHAT_MODEL, prompt: 'One two', max_tokens: 4 }],
      ['an embedding', '/v1/embeddings', { model: 'auto', input: QUESTION }],
    ] as const)
      test(`of ${what}: header, body, usage/last, ledger and receipt`, async () => {
        const { ergon } = world()
        const answer = await call(path, body)
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
        assert.deepEqual([record['operator'], record['region']], ['ergon', 'local'])

        const receipt = answer.headers.get('x-receipt-id') ?? ''
        const row = await chargeOf(ergon, receipt)
        assert.equal(joulesOf(row), joules)
        assert.equal(milligramsOf(row), milligrams)
        const signed = JSON.parse(await receiptText(receipt, 'application/json')) as {
          charge: object
        }
        assert.deepEqual(signed.charge, row)
      })

    test('of a stream: the last usage, the trailers, usage/last, ledger and receipt', async () => {
      const { ergon, apiKey } = world()
      // fetch hides trailers; undici's own request shows them.
      const answer = await request(`${ergon.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...chat, stream: true, stream_options: { include_usage: true } }),
      })
      const text = await answer.body.text()
      const receipt = String(answer.headers['x-receipt-id'])
      const row = await chargeOf(ergon, receipt)
      assert.equal(numberIn(text, 'energy_j'), joulesOf(row))
      assert.equal(answer.trailers['x-energy-joules'], joulesOf(row))
      assert.equal(answer.trailers['x-carbon-mg'], milligramsOf(row))
      assert.equal(answer.headers['x-energy-estimate'], 'ceiling')
      assert.ok(Number(answer.headers['x-energy-joules']) >= Number(joulesOf(row)))
      const last = await (await call('/v1/usage/last')).text()
      assert.equal(numberIn(last, 'energy_j'), joulesOf(row))
      const signed = JSON.parse(await receiptText(receipt, 'application/json')) as {
        charge: object
      }
      assert.deepEqual(signed.charge, row)
    })

    test('the receipt is verified by the command line, and a forged one is not', async () => {
      const { ergon } = world()
      const answer = await call('/v1/chat/completions', chat)
      await answer.body?.cancel()
      const receipt = answer.headers.get('x-receipt-id') ?? ''
      const proof = await receiptText(receipt, 'text/plain')
      assert.match(proof, /^c2sp\.org\/tlog-proof@v1\n/)
      const good = await ergon.cli('receipt', 'verify', receipt)
      assert.equal(good.code, 0, good.stderr)
      const file = join(ergon.dataFolder, 'forged.tlog-proof')
      writeFileSync(file, forgedReceipt(proof))
      const forged = await ergon.cli('receipt', 'verify', file)
      assert.equal(forged.code, 6, forged.stdout + forged.stderr)
      assert.match(forged.stdout, /FAIL inclusion/)
    })

    test('the books of all of it add up', async () => {
      assert.deepEqual(await bookFaults(world().ergon), [])
    })
  })
}
