// Prompt tokens that upstreams declare, and the part that callers pay: a server may add a system prompt of its own, and
// may declare a false figure.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { nj } from '#base/units.ts'
import { parseChatRequest, parseEmbeddingRequest } from '#contract/inference/inference.ts'
import type { KnownReply } from '#http/reply.ts'
import { boundsOf } from './admission.ts'
import { createChatCreate } from './operations/chat-create.ts'
import { createEmbeddingCreate } from './operations/embedding-create.ts'
import { createOpenaiProvider } from './providers/openai/openai-provider.ts'
import { callOf, depsOf, offerOf, quietLog } from './testing/offers.ts'
import {
  cellChunk,
  DONE,
  frame,
  plainChunk,
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts'
import { createStrictSpend } from './testing/strict-spend.ts'

let upstream: ScriptedUpstream
before(async () => {
  upstream = await startScriptedUpstream('port', () => undefined)
})
after(() => upstream.close())

const setUp = (more: Parameters<typeof offerOf>[0] = {}) => {
  const offer = offerOf({ provider: 'up', context: 4096, ...more })
  const provider = createOpenaiProvider(
    { name: 'up', at: { kind: 'upstream', baseUrl: upstream.baseUrl, bandPct: 60 } },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
  return { offer, deps: depsOf([offer], [provider]) }
}

/** Two tokens at once, streamed or whole, and a prompt of so many. */
const declaring =
  (prompt: number): Script =>
  ({ body }, response) => {
    const usage = { prompt_tokens: prompt, completion_tokens: 2, total_tokens: prompt + 2 }
    if (Array.isArray(body['input'])) {
      const data = body['input'].map((_, index) => ({ index, embedding: [1, 2] }))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ data, usage }))
      return
    }
    if (body['stream'] === false) {
      const message = { role: 'assistant', content: 'Hello there' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices, usage }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('Hello') + plainChunk(' there') + plainChunk(null, 'stop'))
    response.end(frame({ choices: [], usage }) + DONE)
  }

type Asked = { readonly deps: ReturnType<typeof setUp>['deps']; readonly body?: object }

/** Asks once; the reply's usage, what was claimed in the end, and the spend. */
async function chat({ deps, body = {} }: Asked, spend = createStrictSpend()) {
  const messages = [{ role: 'user', content: 'hi' }]
  const request = parseChatRequest({ model: 'small', messages, max_tokens: 5, ...body })
  const reply = (await createChatCreate(deps)(callOf(request, spend))) as KnownReply
  const { usage } = JSON.parse(String(reply.body(spend.settle(200)))) as {
    usage: { prompt_tokens: number }
  }
  const used = spend.claims.at(-1)
  return { prompt: usage.prompt_tokens, nj: used?.kind === 'upstream' ? used.energyNj : 0n, spend }
}

// Whole answers, and streams because the hold may not cover them.
for (const [how, holdNj] of [
  ['whole', undefined],
  ['streamed', 10n ** 15n],
] as const)
  test(`a server's own system prompt is paid after a few answers (${how})`, async () => {
    upstream.script = declaring(400)
    const { deps } = setUp()
    const prompts: number[] = []
    for (let times = 0; times < 6; times++) {
      const answer = await chat({ deps }, createStrictSpend(holdNj === undefined ? {} : { holdNj }))
      assert.equal(answer.nj, BigInt(answer.prompt) * 1_000_000n + 4_000_000n)
      assert.equal(answer.spend.facts.promptTokens, answer.prompt)
      const ceiling = answer.spend.admissions.at(-1) ?? 0n
      assert.ok(answer.nj < ceiling, `${answer.nj} of ${ceiling}`)
      prompts.push(answer.prompt)
    }
    assert.deepEqual(prompts, [82, 146, 274, 400, 400, 400])
  })

test('one lie is believed for as much as a template, and doubles that', async () => {
  const { deps, offer } = setUp()
  upstream.script = declaring(4000)
  assert.equal((await chat({ deps })).prompt, 82)
  assert.equal(deps.learned.overheadTokens(offer), 128)
  upstream.script = declaring(4097)
  // More than its context: nothing of it is believed, and the answer is billed by its bytes.
  assert.ok((await chat({ deps })).prompt <= 1)
  assert.equal(deps.learned.overheadTokens(offer), 128)
})

test('a long template of our own cell is admitted from the second answer on, though it cut the first', async (t) => {
  let spend = createStrictSpend()
  const cell = await startScriptedUpstream('socket', async (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // A millisecond of CPU a token, as declared: 20 mJ.
    const figures = { cpu_ns: '1200000000', prompt_tokens: 1200, completion_tokens: 0 }
    response.write(`: ${JSON.stringify(figures)}\n\n`)
    while (spend.claims.length === 0) await new Promise(setImmediate)
    response.end(cellChunk({ content: 'a' }, [1_200_000_000, 1200, 1], 'stop') + DONE)
  })
  const offer = offerOf({ isCell: true, njPerPromptToken: nj(20_000_000n) })
  const provider = createOpenaiProvider(
    { name: 'cell-small', at: { kind: 'cell', socketPath: cell.socketPath } },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
  t.after(() => Promise.all([provider.close(), cell.close()]))
  const deps = depsOf([offer], [provider])
  const work = { promptBytes: 2, promptTexts: 1, prompts: 1, choices: 1, maxTokens: 5 }
  const ask = () => {
    spend = createStrictSpend({ holdNj: boundsOf(offer, work, deps.learned).ceilingNj })
    return chat({ deps }, spend)
  }
  await assert.rejects(ask(), { code: 'balance_depleted' })
  await ask()
  assert.equal(deps.learned.overheadTokens(offer), 1200 - 18)
})

test('a prompt is read once, however many answers it has', async () => {
  const { deps } = setUp()
  upstream.script = ({ body }, response) => {
    const choices = Array.from({ length: Number(body['n']) }, (_, index) => ({
      index,
      message: { role: 'assistant', content: 'Hello' },
      finish_reason: 'stop',
    }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices, usage: { prompt_tokens: 400, completion_tokens: 8 } }))
  }
  assert.equal((await chat({ deps, body: { n: 8 } })).prompt, 82)
})

test('embeddings are billed by the same bound, and learn by batch', async () => {
  const { deps, offer } = setUp({ modalities: ['embedding'], embeddingDimensions: 2 })
  upstream.script = declaring(400)
  const spend = createStrictSpend({ holdNj: 1n })
  const request = parseEmbeddingRequest({ model: 'small', input: ['a'] })
  await createEmbeddingCreate(deps)(callOf(request, spend))
  assert.equal(spend.facts.promptTokens, 1 + 16 + 64)
  assert.equal(deps.learned.overheadTokens(offer), 128)
})

test('a prompt is held before it is asked for, by the bytes that it has at least', async () => {
  const { deps } = setUp()
  upstream.script = declaring(4000)
  const messages = [{ role: 'user', content: 'word '.repeat(3600) }]
  const { spend, prompt } = await chat({ deps, body: { messages } })
  assert.equal(spend.leasts.at(-1), 2250n * 1_000_000n)
  assert.equal(prompt, 4000)
})

test('an answer that is all there is given and billed, whatever its hold was', async () => {
  const { deps } = setUp()
  upstream.script = declaring(72)
  const spend = createStrictSpend({ holdNj: 1n })
  const answer = await chat({ deps }, spend)
  assert.equal(spend.cutReason, undefined)
  assert.equal(answer.prompt, 72)
})

test('a call that could not be billed teaches what it took, not what was paid', async () => {
  const { deps, offer } = setUp()
  upstream.script = declaring(72)
  for (let times = 0; times < 8; times++) {
    const spend = createStrictSpend()
    // As if it held nearly nothing: the charge says less than was measured.
    const settle = spend.settle
    spend.settle = (status) => ({ ...settle(status), energy_nj: '5' })
    await chat({ deps }, spend)
  }
  const tokens = { prompt: 72, completion: 2 }
  assert.ok(deps.learned.estimate(offer, tokens, 0.05) >= nj(76_000_000n))
})
