// The cost of an upstream's answer. Answers of honest upstreams are billed as declared, also when the server adds a
// prompt of its own or ends before the hold has grown. A false figure gains little.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bandOfParts } from '#contract/ledger/known.ts'
import { DONE, frame, plainChunk, type Script } from '#inference/testing/scripted-upstream.ts'
import { bookFaults, chargesOf, joulesOf, leasesReturned, type ChargeRow } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import {
  closeUpstreams,
  json,
  head,
  model,
  post,
  receiptOf,
  upstreamEnergy,
} from '../upstreams/scripted-models.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const NJ_PER_TOKEN = 300_000_000n
const NJ_PER_PROMPT_TOKEN = NJ_PER_TOKEN / 2n
const HI = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
const BURST = 20
/** Accounts that were not served before. */
const cold: string[] = []

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})
after(closeUpstreams)

/** Two tokens at once, whole or streamed, and a prompt of so many. */
const declaring =
  (prompt: number): Script =>
  ({ body }, response) => {
    const usage = { prompt_tokens: prompt, completion_tokens: 2, total_tokens: prompt + 2 }
    if (body['stream'] === false) {
      const message = { role: 'assistant', content: 'Hello there' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      response.writeHead(200, json)
      response.end(JSON.stringify({ choices, usage }))
      return
    }
    response.writeHead(200, head)
    response.write(plainChunk('Hello') + plainChunk(' there') + plainChunk(null, 'stop'))
    response.end(frame({ choices: [], usage }) + DONE)
  }

const costly = (prompt: number, options: { prompt_overhead_tokens?: number } = {}) =>
  model(declaring(prompt), { nj_per_token: String(NJ_PER_TOKEN), ...options })

/** Asserts that all are 200 and below their stated ceiling; returns their charges in order. */
async function charged(answers: readonly Response[]): Promise<ChargeRow[]> {
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  for (const [at, answer] of answers.entries()) {
    assert.equal(answer.status, 200, texts[at])
    assert.ok(!texts[at]?.includes('"error"'), texts[at])
  }
  const charges = await chargesOf(ergon, answers.map(receiptOf))
  return answers.map((answer) => {
    const charge = charges.get(receiptOf(answer))
    assert.ok(charge !== undefined)
    const told = Number(answer.headers.get('x-energy-joules'))
    const joules = Number(joulesOf(charge))
    if (answer.headers.get('x-energy-estimate') === 'ceiling') assert.ok(told >= joules)
    else assert.equal(told, joules)
    // In the head of a stream the worst band that its parts may have, otherwise that of its receipt.
    const { method, bandPct } = bandOfParts(charge.parts)
    const isHead = answer.headers.get('x-energy-estimate') === 'ceiling'
    const known = isHead ? 'model; band=100%' : `${method}; band=${bandPct}%`
    assert.equal(answer.headers.get('x-energy-method'), known)
    return charge
  })
}

const energyOf = (prompt: number) => BigInt(prompt) * NJ_PER_PROMPT_TOKEN + 2n * NJ_PER_TOKEN

for (const stream of [false, true])
  describe(`an upstream that answers at once, ${stream ? 'streamed' : 'whole'}`, () => {
    test('with a chat template of ordinary length is answered and billed each time', async () => {
      const id = await costly(72)
      for (let times = 0; times < 12; times++) {
        const [charge] = await charged([await post(id, { ...HI, stream })])
        assert.ok(charge !== undefined)
        assert.deepEqual([upstreamEnergy(charge), charge.prompt_tokens], [energyOf(72), '72'])
      }
    })
    test('with a system prompt of its own is answered, and billed whole after a few', async () => {
      const id = await costly(400)
      const prompts: string[] = []
      for (let times = 0; times < 12; times++) {
        const [charge] = await charged([await post(id, { ...HI, stream })])
        const told = charge?.prompt_tokens ?? ''
        assert.equal(charge && upstreamEnergy(charge), energyOf(Number(told)))
        prompts.push(told)
      }
      assert.deepEqual(prompts, ['82', '146', '274', ...Array.from({ length: 9 }, () => '400')])
    })
    test('to long prompts is paid each of them, from the first on a cold lease', async () => {
      const { id: account } = await ergon.control('account.create', {
        env: 'test',
      })
      await ergon.control('funds.add', { account, pusd: '5000000000000' })
      const { token } = await ergon.control('token.create', { account })
      cold.push(account)
      const id = await costly(4000)
      const messages = [{ role: 'user', content: 'word '.repeat(3600) }]
      const ask = () => post(id, { messages, max_tokens: 5, stream }, { token })
      for (let bursts = 0; bursts < 3; bursts++)
        for (const charge of await charged(await Promise.all(Array.from({ length: BURST }, ask))))
          assert.equal(upstreamEnergy(charge), energyOf(4000))
    })
  })

describe('a body that only looks like a long prompt is billed as it was declared', () => {
  const names = Array.from({ length: 200 }, (_, index) => `field_number_${index}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const schema = { type: 'object', properties, required: names, additionalProperties: false }
  const asked = {
    'a format of 200 fields': {
      response_format: { type: 'json_schema', json_schema: { name: 'wide', schema } },
    },
    '20,000 spaces': { messages: [{ role: 'user', content: ' '.repeat(20_000) }] },
  }
  for (const [what, body] of Object.entries(asked))
    test(what, async () => {
      const id = await costly(30)
      const ask = { ...HI, ...body, stream: true }
      for (const charge of await charged([await post(id, ask), await post(id, ask)]))
        assert.deepEqual([upstreamEnergy(charge), charge.prompt_tokens], [energyOf(30), '30'])
    })
})

test('a token of a prompt costs half of one of the answer, rounded down, and never nothing', async () => {
  for (const [declared, energyNj] of [
    ['3', 10n * 1n + 2n * 3n],
    ['1', 10n * 1n + 2n * 1n],
  ] as const) {
    const id = await model(declaring(10), { nj_per_token: declared })
    const [charge] = await charged([await post(id, HI)])
    assert.equal(charge && upstreamEnergy(charge), energyNj)
  }
})

test('the carbon of an upstream is of its zone where that is declared, else assumed', async () => {
  for (const [options, zone, basis] of [
    [{}, 'WORLD', /^assumed/],
    [{ carbon_zone: 'FR' }, 'FR', /^yearly-average/],
  ] as const) {
    const [charge] = await charged([await post(await model(declaring(10), options), HI)])
    const [node, far] = charge?.parts ?? []
    assert.equal(node?.factor, undefined)
    assert.equal(far?.factor?.zone, zone)
    assert.match(far?.factor?.basis ?? '', basis)
  }
})

test('a prompt that cannot be is billed as far as it can, without a limit on the answer', async () => {
  const id = await costly(4000)
  const [charge] = await charged([await post(id, { messages: HI.messages })])
  assert.equal(charge && upstreamEnergy(charge), energyOf(82))
})

test('a system prompt that the operator declared is billed from the first, and no more is', async () => {
  for (const [declared, prompt] of [
    [382, 400],
    [100, 118],
    [0, 18],
  ] as const) {
    const id = await costly(400, { prompt_overhead_tokens: declared })
    for (const charge of await charged([await post(id, HI), await post(id, HI)]))
      assert.equal(upstreamEnergy(charge), energyOf(prompt))
  }
  for (const prompt_overhead_tokens of [-1, 1.5])
    await assert.rejects(
      ergon.control('model.add', {
        upstream: 'http://127.0.0.1:9/v1',
        upstream_model: 'x',
        prompt_overhead_tokens,
      }),
      /prompt_overhead_tokens/,
    )
})

test('a caller that cannot hold the cost of a prompt is told before anybody is asked', async () => {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  // Some 14 J, of the 337 that 18 kB take at least.
  await ergon.control('funds.add', { account, pusd: '1000000' })
  const { token } = await ergon.control('token.create', { account })
  const id = await costly(4000)
  const messages = [{ role: 'user', content: 'word '.repeat(3600) }]
  const answer = await post(id, { messages, max_tokens: 5 }, { token })
  const text = await answer.text()
  assert.equal(answer.status, 402, text)
  assert.ok(text.includes('balance_depleted'), text)
  const [charge] = [...(await chargesOf(ergon, [receiptOf(answer)])).values()]
  assert.equal(charge && upstreamEnergy(charge), 0n)
})

test('after all of it no hold is stuck and the books add up', async () => {
  // A lease goes back when it has been idle for a while: all at once. That of the other parts, after them.
  assert.equal(cold.length, 2)
  for (const account of cold) assert.ok(await leasesReturned(ergon, account))
  assert.deepEqual(await bookFaults(ergon), [])
})
