import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import type { ErgonError } from '#base/errors.ts'
import { printJoules } from '#base/units.ts'
import { chargeEnergy } from '#contract/ledger/charge.ts'
import { embeddingList } from '#contract/inference/inference-replies.ts'
import { parseEmbeddingRequest } from '#contract/inference/inference.ts'
import { createOpenaiProvider } from '#inference/providers/openai/openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { callOf, depsOf, offerOf, quietLog } from '#inference/testing/offers.ts'
import {
  answering,
  startScriptedUpstream,
  streaming,
  type Script,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'

import { createStrictSpend, type StrictSpend } from '#inference/testing/strict-spend.ts'
import { createEmbeddingCreate } from './embedding-create.ts'

let upstream: ScriptedUpstream
let socket: ScriptedUpstream
let cell: Provider
let remote: Provider
const deps = { clock: systemClock, log: quietLog, sleep: async () => {} }
before(async () => {
  upstream = await startScriptedUpstream('port', streaming())
  socket = await startScriptedUpstream('socket', streaming())
})
after(() => Promise.all([upstream.close(), socket.close()]))
// New ones for each test: one test's lies must not open the breaker of the next.
beforeEach(() => {
  cell = createOpenaiProvider(
    { name: 'cell-e', at: { kind: 'cell', socketPath: socket.socketPath } },
    deps,
  )
  remote = createOpenaiProvider(
    { name: 'up', at: { kind: 'upstream', baseUrl: upstream.baseUrl, bandPct: 60 } },
    deps,
  )
})
afterEach(() => Promise.all([cell.close(), remote.close()]))

const offer = offerOf({
  id: 'mini',
  provider: 'cell-e',
  modalities: ['embedding'],
  embeddingDimensions: 4,
  context: 512,
})
const base64 = (numbers: readonly number[]) =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64')
/** A vector that tells which input it is of. */
const vectorOf = (text: unknown) => [String(text).length, 0.5, -0.25, 0.1]

/** The answer of a cell: a line per input, cumulative figures, and the usage. */
const cellLines: Script = ({ body }, response) => {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  const inputs = [body['input']].flat()
  inputs.forEach((text, index) => {
    const ergon = {
      cpu_ns: String((index + 1) * 1_000),
      prompt_tokens: index + 1,
      completion_tokens: 0,
    }
    response.write(`${JSON.stringify({ index, embedding: base64(vectorOf(text)), ergon })}\n`)
  })
  const ergon = { cpu_ns: '100000', prompt_tokens: inputs.length, completion_tokens: 0 }
  response.end(
    `${JSON.stringify({ model: 'x', usage: { prompt_tokens: inputs.length }, ergon })}\n`,
  )
}

async function embed(
  more: Record<string, unknown>,
  options: { offers?: (typeof offer)[]; spend?: StrictSpend; told?: unknown[] } = {},
) {
  const call = callOf(
    parseEmbeddingRequest({ model: 'mini', input: 'abc', ...more }),
    options.spend,
  )
  const made = depsOf(options.offers ?? [offer], [cell, remote])
  const failures = {
    ...made.failures,
    tell: ({ id }: typeof offer, error: unknown) =>
      void options.told?.push([id, (error as ErgonError).code]),
  }
  const inference = { ...made, failures }
  const reply = await createEmbeddingCreate(inference)(call)
  assert.ok(reply.kind === 'known')
  const text = String(reply.body(call.spend.settle(200)))
  return { text, body: embeddingList.parse(JSON.parse(text)), spend: call.spend, inference }
}

test('mistakes of a model with embeddings are told to the operator', async () => {
  socket.script = (_asked, response) => void response.destroy()
  const told: unknown[] = []
  await assert.rejects(embed({}, { told }), { code: 'upstream_failed' })
  assert.deepEqual(told, [['mini', 'upstream_failed']])
})

test('embeddings of a cell come as numbers with the figures of the charge', async () => {
  socket.script = cellLines
  socket.asked.length = 0
  const { text, body, spend, inference } = await embed({})
  assert.deepEqual(body.data[0]?.embedding, [3, 0.5, -0.25, Math.fround(0.1)])
  assert.equal(body.model, 'mini')
  assert.equal(body.usage.prompt_tokens, 1)
  assert.ok(text.includes(`"energy_j":${printJoules(chargeEnergy(spend.settle(200)))},`))
  assert.deepEqual(spend.claims.at(-1), { kind: 'cpu', cell: 'cell-e', cpuNs: 100_000n })
  assert.deepEqual(socket.asked[0]?.body, {
    model: 'upstream-small',
    input: ['abc'],
    encoding_format: 'base64',
    dimensions: 4,
  })
  assert.equal(inference.learned.perThousandTokens(offer).samples, 1)
})

test('embeddings come as base64 of little-endian float32 when asked', async () => {
  socket.script = cellLines
  const { body } = await embed({ encoding_format: 'base64' })
  assert.equal(body.data[0]?.embedding, base64([3, 0.5, -0.25, 0.1]))
})

test('embeddings of many inputs go in batches whose figures add up, in order', async () => {
  socket.script = cellLines
  socket.asked.length = 0
  const input = Array.from({ length: 70 }, (_, index) => 'x'.repeat(index + 1))
  const { body, spend } = await embed({ input })
  assert.equal(socket.asked.length, 3)
  assert.deepEqual(
    body.data.map(({ index, embedding }) => [index, embedding[0]]),
    input.map((text, index) => [index, text.length]),
  )
  assert.equal(body.usage.prompt_tokens, 70)
  assert.deepEqual(spend.claims.at(-1), { kind: 'cpu', cell: 'cell-e', cpuNs: 300_000n })
})

test('embeddings stop when the hold is used up', async () => {
  socket.script = cellLines
  socket.asked.length = 0
  const spend = createStrictSpend({ ownNj: 0n, holdNj: 2_500_000n })
  const input = Array.from({ length: 70 }, () => 'x')
  await assert.rejects(embed({ input }, { spend }), { code: 'balance_depleted' })
  assert.equal(socket.asked.length, 2)
})

test('embeddings of an upstream are taken as base64 or numbers, in any order', async () => {
  const remoteOffer = { ...offer, provider: 'up' }
  for (const form of [base64, (numbers: readonly number[]) => numbers]) {
    upstream.script = ({ body }, response) => {
      const inputs = body['input'] as string[]
      const data = inputs.map((text, index) => ({ index, embedding: form(vectorOf(text)) }))
      const usage = { prompt_tokens: 9, total_tokens: 9 }
      return answering(200, { object: 'list', data: data.toReversed(), usage })(
        { path: '', headers: {}, body },
        response,
      )
    }
    upstream.asked.length = 0
    const { body, spend } = await embed({ input: ['a', 'bb'] }, { offers: [remoteOffer] })
    assert.deepEqual(
      body.data.map(({ embedding }) => embedding[0]),
      [1, 2],
    )
    assert.equal(upstream.asked[0]?.body['dimensions'], undefined)
    assert.deepEqual(spend.claims.at(-1), {
      kind: 'upstream',
      meter: 'upstream:up',
      method: 'model',
      bandPct: 60,
      energyNj: 9_000_000n,
    })
  }
})

const good = { index: 0, embedding: vectorOf('abc') }
const usage = { prompt_tokens: 3 }
const LIES: [string, unknown][] = [
  ['no JSON', '<html>'],
  ['too few vectors', { data: [], usage }],
  ['too many vectors', { data: [good, { ...good, index: 1 }], usage }],
  ['a vector twice', { data: [good, good], usage }],
  ['a short vector', { data: [{ index: 0, embedding: [1, 2] }], usage }],
  ['words', { data: [{ index: 0, embedding: ['a', 'b', 'c', 'd'] }], usage }],
  ['base64 of no floats', { data: [{ index: 0, embedding: 'AAA=' }], usage }],
  ['numbers that are none', { data: [{ index: 0, embedding: base64([NaN, 1, 2, 3]) }], usage }],
  ['no usage', { data: [good] }],
  ['an absurd usage', { data: [good], usage: { prompt_tokens: 1e9 } }],
]
for (const [what, answer] of LIES)
  test(`embeddings of an upstream that sends ${what} are a 502`, async () => {
    upstream.script = answering(200, answer)
    await assert.rejects(embed({}, { offers: [{ ...offer, provider: 'up' }] }), {
      code: 'upstream_failed',
      status: 502,
    })
  })

test('embeddings of other dimensions than the model has are a 400', async () => {
  await assert.rejects(embed({ dimensions: 3 }), { status: 400, param: 'dimensions' })
  await assert.rejects(embed({ model: 'auto', dimensions: 3 }), {
    status: 400,
    param: 'dimensions',
  })
})

for (const reads of ['one read', 'two reads'] as const)
  test(`a cell that breaks off between vectors has its figures claimed, in ${reads}`, async () => {
    const figures = (cpuNs: number) => ({
      cpu_ns: String(cpuNs),
      prompt_tokens: 1,
      completion_tokens: 0,
    })
    const first = { index: 0, embedding: base64(vectorOf('a')), ergon: figures(1_000) }
    const error = { message: 'The model could not go on', type: 'api_error', code: 'internal' }
    const lines = [first, { error, ergon: figures(9_000) }].map(
      (line) => `${JSON.stringify(line)}\n`,
    )
    socket.script = async (_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      if (reads === 'two reads') {
        response.write(lines.shift())
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      response.end(lines.join(''))
    }
    const spend = createStrictSpend()
    await assert.rejects(embed({ input: ['a', 'b'] }, { spend }), (thrown: ErgonError) => {
      assert.equal(thrown.code, 'upstream_failed')
      assert.match(thrown.message, /The model could not go on/)
      return true
    })
    assert.deepEqual(spend.claims.at(-1), { kind: 'cpu', cell: 'cell-e', cpuNs: 9_000n })
  })

test('use before a line that is a lie is claimed', async () => {
  const ergon = { cpu_ns: '7000', prompt_tokens: 1, completion_tokens: 0 }
  const line = JSON.stringify({ index: 0, embedding: base64(vectorOf('a')), ergon })
  socket.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.end(`${line}\nno JSON\n`)
  }
  const spend = createStrictSpend()
  await assert.rejects(embed({ input: ['a', 'b'] }, { spend }), { code: 'upstream_failed' })
  assert.deepEqual(spend.claims.at(-1), { kind: 'cpu', cell: 'cell-e', cpuNs: 7_000n })
})
