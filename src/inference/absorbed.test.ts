// Failed answers: the operator absorbs the energy of an answer of which the caller got nothing. A caller who got a
// part, or left, pays for that part.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { nj } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { parseChatRequest, parseEmbeddingRequest } from '#contract/inference/inference.ts'
import { createChatCreate } from './operations/chat-create.ts'
import { createEmbeddingCreate } from './operations/embedding-create.ts'
import { createOpenaiProvider } from './providers/openai/openai-provider.ts'
import { callOf, depsOf, offerOf, quietLog } from './testing/offers.ts'
import {
  answering,
  cellChunk,
  DONE,
  frame,
  plainChunk,
  startScriptedUpstream,
  streaming,
  type Script,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts'
import { createStrictSpend } from './testing/strict-spend.ts'

const TOKENS = 200
let upstream: ScriptedUpstream
before(async () => {
  upstream = await startScriptedUpstream('port', () => undefined)
})
after(() => upstream.close())

const providerOf = (name: string, timeouts: { readonly idleMs?: number } = {}) =>
  createOpenaiProvider(
    { name, at: { kind: 'upstream', baseUrl: upstream.baseUrl, bandPct: 100 }, timeouts },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
const offer = offerOf({ provider: 'up' })
const askedNj = BigInt(TOKENS) * offer.njPerCompletionToken
const chat = (more: object = {}) =>
  parseChatRequest({ model: 'small', messages: [{ role: 'user', content: 'Hi' }], ...more })

const head = { 'content-type': 'text/event-stream' }
/** Sends TOKENS tokens, and runs `then` once they are sent. */
const saying =
  (then: (response: Parameters<Script>[1]) => void): Script =>
  (_asked, response) => {
    response.writeHead(200, head)
    response.write(plainChunk('w').repeat(TOKENS), () => setImmediate(() => then(response)))
  }
const dying = saying((response) => void response.destroy())

const paidNj = (spend: ReturnType<typeof callOf>['spend']): bigint =>
  spend
    .settle(502)
    .parts.filter(({ meter }) => meter.startsWith('upstream:'))
    .reduce((sum, part) => sum + BigInt(part.energy_nj), 0n)

const absorbedNj = ({ absorbed }: ReturnType<typeof callOf>['spend']): bigint =>
  absorbed.reduce((sum, used) => sum + (used.kind === 'upstream' ? used.energyNj : 0n), 0n)

const handlerOf = (...offers: Parameters<typeof depsOf>[0]) =>
  createChatCreate(
    depsOf(
      offers,
      offers.map(({ provider }) => providerOf(provider)),
    ),
  )

test('a caller that does not stream pays nothing of an answer that broke', async () => {
  upstream.script = dying
  const call = callOf(chat({ max_tokens: 2000 }))
  await assert.rejects(Promise.resolve(handlerOf(offer)(call)), { code: 'upstream_failed' })
  assert.deepEqual([paidNj(call.spend), absorbedNj(call.spend)], [0n, askedNj])
})

for (const [ends, reason, paid] of [
  ['time is over', fault('deadline_exceeded', 'Too late'), askedNj],
  ['gateway stops', fault('draining', 'Stopping'), 0n],
  ['ledger is away', fault('state_unavailable', 'Silent'), 0n],
  ['caller leaves', fault('client_closed', 'Gone'), askedNj],
] as const)
  test(`a caller that does not stream pays ${paid} nJ of an answer whose ${ends}`, async () => {
    upstream.script = saying(() => undefined)
    const call = callOf(chat({ max_tokens: 2000 }))
    const ending = new AbortController()
    const answer = handlerOf(offer)({ ...call, signal: ending.signal })
    const settled = assert.rejects(Promise.resolve(answer))
    const claimedNj = () => {
      const last = call.spend.claims.at(-1)
      return last?.kind === 'upstream' ? last.energyNj : 0n
    }
    while (claimedNj() < askedNj) await new Promise(setImmediate)
    ending.abort(reason)
    await settled
    assert.deepEqual([paidNj(call.spend), absorbedNj(call.spend)], [paid, askedNj - paid])
  })

for (const [code, stream] of [
  ['balance_depleted', false],
  ['balance_depleted', true],
  ['budget_exhausted', false],
  ['budget_exhausted', true],
] as const)
  test(`an answer that ends before its first token is paid by nobody: ${code}${stream ? ', streamed' : ''}`, async () => {
    const figures = { cpu_ns: '5000000', prompt_tokens: 9, completion_tokens: 0 }
    const asked = askCell(
      (_asked, response) => {
        response.writeHead(200, head)
        response.write(`: ${JSON.stringify(figures)}\n\n`)
      },
      { stream },
    )
    const { call, answer, close } = await asked
    const failed = assert.rejects(Promise.resolve(answer), { code })
    while (call.spend.claims.length === 0) await new Promise(setImmediate)
    call.spend.cutNow(fault(code, 'Empty'))
    await failed
    assert.deepEqual(call.spend.absorbed, [cellUsed])
    await close()
  })

test('a caller that streams pays for what was delivered before it broke', async () => {
  upstream.script = dying
  const call = callOf(chat({ max_tokens: 2000, stream: true }))
  const reply = await handlerOf(offer)(call)
  assert.ok(reply.kind === 'streamed')
  await assert.rejects(
    async () => {
      for await (const _ of reply.chunks);
    },
    { code: 'upstream_failed' },
  )
  assert.deepEqual([paidNj(call.spend), absorbedNj(call.spend)], [askedNj, 0n])
})

const cellOffer = offerOf()
const cellDying =
  (seen: Promise<void>): Script =>
  async (_asked, response) => {
    response.writeHead(200, head)
    response.write(cellChunk({ content: 'a' }, [5_000_000, 9, 1]))
    await seen
    response.destroy()
  }
const askCell = async (script: Script, more: object) => {
  const cell = await startScriptedUpstream('socket', script)
  const local = createOpenaiProvider(
    { name: 'cell-small', at: { kind: 'cell', socketPath: cell.socketPath } },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
  const call = callOf(chat({ max_tokens: 2000, ...more }))
  const answer = createChatCreate(depsOf([cellOffer], [local]))(call)
  return { call, answer, close: () => Promise.all([local.close(), cell.close()]) }
}
const cellUsed = { kind: 'cpu', cell: 'cell-small', cpuNs: 5_000_000n } as const

test('a caller that does not stream pays nothing of our own cell that ended in mid-token', async () => {
  const claimed = Promise.withResolvers<void>()
  const { call, answer, close } = await askCell(cellDying(claimed.promise), {})
  const failed = assert.rejects(Promise.resolve(answer), { code: 'upstream_failed' })
  while (call.spend.claims.length === 0) await new Promise(setImmediate)
  claimed.resolve()
  await failed
  assert.deepEqual(call.spend.absorbed, [cellUsed])
  assert.deepEqual(
    call.spend.settle(502).parts.map(({ meter }) => meter),
    ['gateway'],
  )
  await close()
})

test('a caller that streams pays for what our own cell delivered before it ended', async () => {
  const read = Promise.withResolvers<void>()
  const { call, answer, close } = await askCell(cellDying(read.promise), { stream: true })
  const reply = await answer
  assert.ok(reply.kind === 'streamed')
  const chunks = reply.chunks[Symbol.asyncIterator]()
  assert.match(String((await chunks.next()).value), /"content":"a"/)
  read.resolve()
  await assert.rejects(chunks.next(), { code: 'upstream_failed' })
  assert.deepEqual([call.spend.absorbed, call.spend.claims], [[], [cellUsed]])
  await close()
})

test('a caller that streams pays nothing of our own cell that ended before its first token', async () => {
  const figures = { cpu_ns: '5000000', prompt_tokens: 9, completion_tokens: 0 }
  const script = streaming(`: ${JSON.stringify(figures)}\n\n`)
  const { call, answer, close } = await askCell(script, { stream: true })
  await assert.rejects(Promise.resolve(answer), { code: 'upstream_failed' })
  assert.deepEqual(call.spend.absorbed, [cellUsed])
  await close()
})

test('an answer that was fallen back for is paid, and what it was fallen back from is not', async () => {
  const usage = { prompt_tokens: 9, completion_tokens: 0 }
  const other = offerOf({ id: 'other', provider: 'other', upstreamId: 'other' })
  upstream.script = (asked, response) =>
    asked.body['model'] === 'other'
      ? streaming(plainChunk('a') + plainChunk('b', 'stop') + DONE)(asked, response)
      : streaming(frame({ choices: [], usage }))(asked, response)
  const cheap = { ...offer, njPerPromptToken: nj(999_999n) }
  const call = callOf(chat({ model: 'auto', max_tokens: 2000 }))
  const reply = await handlerOf(cheap, other)(call)
  assert.match(reply.headers?.['x-router-reason'] ?? '', /small failed .*served by other/)
  const charge = call.spend.settle(200)
  assert.deepEqual(
    charge.parts.slice(1).map(({ meter, energy_nj }) => [meter, energy_nj]),
    [['upstream:other', String(2n * other.njPerCompletionToken)]],
  )
  assert.equal(absorbedNj(call.spend), 9n * cheap.njPerPromptToken)
})

const whole = { 'content-type': 'application/json', 'content-length': '999' }
const halved: Script = (_asked, response) => {
  response.writeHead(200, whole)
  response.write('{"choices":[', () => setImmediate(() => void response.destroy()))
}
const BROKEN: Readonly<Record<string, readonly [Script, absorbedNj?: bigint]>> = {
  'a stream that breaks': [dying, askedNj],
  'a stream that hangs': [saying(() => undefined), askedNj],
  'a stream that ends early': [saying((response) => void response.end()), askedNj],
  // Tokens in the same read are not claimed.
  'a stream that is no JSON': [saying((response) => void response.end('data: {"cho\n\n'))],
  'one piece that breaks': [halved, 0n],
  'one piece that is no JSON': [answering(200, '{"choices":['), 0n],
}
for (const [how, [broken, spentNj]] of Object.entries(BROKEN))
  test(`a caller that does not stream is answered by the next offer after ${how}`, async () => {
    const other = offerOf({ id: 'other', provider: 'other', upstreamId: 'other' })
    upstream.script = (asked, response) =>
      asked.body['model'] === 'other'
        ? streaming(plainChunk('a') + plainChunk('b', 'stop') + DONE)(asked, response)
        : broken(asked, response)
    const cheap = { ...offer, njPerPromptToken: nj(999_999n) }
    const deps = depsOf([cheap, other], [providerOf('up', { idleMs: 100 }), providerOf('other')])
    const tokens = how.startsWith('one piece') ? 9 : 2000
    const call = callOf(chat({ model: 'auto', max_tokens: tokens }))
    const reply = await createChatCreate(deps)(call)
    const code = how.endsWith('hangs') ? 'upstream_timeout' : 'upstream_failed'
    const reason = reply.headers?.['x-router-reason'] ?? ''
    assert.ok(reason.includes(`; small failed (${code}); served by other, `), reason)
    const charge = call.spend.settle(200)
    assert.ok(reply.kind === 'known')
    assert.match(String(reply.body(charge)), /"content":"ab"/)
    assert.deepEqual(
      charge.parts.slice(1).map(({ meter, energy_nj }) => [meter, energy_nj]),
      [['upstream:other', String(2n * other.njPerCompletionToken)]],
    )
    if (spentNj !== undefined) assert.equal(absorbedNj(call.spend), spentNj)
  })

test('a caller that streams gets no second answer after the first piece', async () => {
  const other = offerOf({ id: 'other', provider: 'other', upstreamId: 'other' })
  upstream.asked.length = 0
  upstream.script = dying
  const cheap = { ...offer, njPerPromptToken: nj(999_999n) }
  const call = callOf(chat({ model: 'auto', max_tokens: 2000, stream: true }))
  const reply = await handlerOf(cheap, other)(call)
  assert.ok(reply.kind === 'streamed')
  await assert.rejects(
    async () => {
      for await (const _ of reply.chunks);
    },
    { code: 'upstream_failed' },
  )
  assert.deepEqual(
    upstream.asked.map(({ body }) => body['model']),
    [cheap.upstreamId],
  )
})

test('embeddings that broke in their second batch are not paid', async () => {
  const embedding = offerOf({ provider: 'up', modalities: ['embedding'] })
  const usage = { prompt_tokens: 40, total_tokens: 40 }
  let batches = 0
  upstream.script = ({ body }, response) => {
    const inputs = [body['input']].flat()
    const data = inputs.map((_, index) => ({ index, embedding: [1, 2] }))
    if (++batches > 1) return void response.destroy()
    answering(200, { object: 'list', data, usage })({ path: '', headers: {}, body }, response)
  }
  const input = Array.from({ length: 40 }, () => 'a text')
  const call = callOf(parseEmbeddingRequest({ model: 'small', input }))
  const handle = createEmbeddingCreate(depsOf([embedding], [providerOf('up')]))
  await assert.rejects(Promise.resolve(handle(call)), { code: 'upstream_failed' })
  assert.deepEqual(
    [paidNj(call.spend), absorbedNj(call.spend)],
    [0n, 40n * embedding.njPerPromptToken],
  )
})

test('embeddings whose balance ends between two batches are not paid', async () => {
  const embedding = offerOf({ provider: 'up', modalities: ['embedding'] })
  upstream.script = (asked, response) => {
    const data = [asked.body['input']].flat().map((_, index) => ({ index, embedding: [1, 2] }))
    const usage = { prompt_tokens: 40, total_tokens: 40 }
    answering(200, { object: 'list', data, usage })(asked, response)
  }
  const input = Array.from({ length: 40 }, () => 'a text')
  const call = callOf(
    parseEmbeddingRequest({ model: 'small', input }),
    createStrictSpend({ holdNj: 1n }),
  )
  const handle = createEmbeddingCreate(depsOf([embedding], [providerOf('up')]))
  await assert.rejects(Promise.resolve(handle(call)), { code: 'balance_depleted' })
  assert.deepEqual(
    [paidNj(call.spend), absorbedNj(call.spend)],
    [0n, 40n * embedding.njPerPromptToken],
  )
})
