import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { ceilingReply } from '#contract/inference/inference-replies.ts'
import { parseCompletionRequest, parseEmbeddingRequest } from '#contract/inference/inference.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Handler } from '#http/reply.ts'
import type { InferenceDeps } from '#inference/generation.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { callOf, depsOf, offerOf } from '#inference/testing/offers.ts'
import {
  cellHello,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createCeiling, type RouteRequest } from './chat-ceiling.ts'
import { createChatCreate, routeChat } from './chat-create.ts'
import { createCompletionCreate, routeCompletion } from './completion-create.ts'
import { createEmbeddingCreate, routeEmbedding } from './embedding-create.ts'
import { ask, known, streamText, withCell } from './generation.fixture.ts'

let upstream: ScriptedUpstream
let provider: Provider
withCell((opened) => ({ upstream, provider } = opened))

const FIRST_NJ = nj(1_000_000_000n)
const pusdPerJ = () => 69_444n

type Asked<Body> = {
  readonly operation: OperationName
  readonly body: Body
  readonly route: RouteRequest<Body>
  readonly create: (deps: InferenceDeps) => Handler<Body>
}

/** The ceiling of the answer, and the one that the request itself is admitted with. */
async function ceilingsOf<Body>(
  deps: InferenceDeps,
  { operation, body, route, create }: Asked<Body>,
) {
  const admitted = () => {
    const call = callOf(body)
    const { caller, spend } = call
    assert.ok(caller)
    // As the pipeline does before a handler.
    void spend.admit(caller, operation, FIRST_NJ)
    return call
  }
  const dry = admitted()
  const reply = known(await createCeiling({ ...deps, pusdPerJ }, route)(dry))
  const told = ceilingReply.parse(JSON.parse(JSON.stringify(reply.body(dry.spend.settle(200)))))
  assert.equal(dry.spend.admissions.length, 1, 'it costs its reading alone')
  const real = admitted()
  // The model need not answer: what is admitted comes first.
  const answer = await Promise.resolve(create(deps)(real)).catch(() => undefined)
  if (answer?.kind === 'streamed') await streamText(answer, real.spend)
  const { admissions, leasts, rests } = real.spend
  return { told, admitted: admissions.at(-1), least: leasts.at(-1), rest: rests.at(-1) }
}

test('the ceiling of a request is the one that it is admitted with, and no model is asked', async () => {
  upstream.script = streaming(...cellHello)
  const deps = depsOf(
    [offerOf(), offerOf({ id: 'mini', modalities: ['embedding'], embeddingDimensions: 4 })],
    [provider],
  )
  const before = upstream.asked.length
  const chat = { operation: 'chat.create', route: routeChat, create: createChatCreate } as const
  const all = [
    await ceilingsOf(deps, { ...chat, body: ask() }),
    await ceilingsOf(deps, { ...chat, body: ask({ max_tokens: 7, n: 2 }) }),
    await ceilingsOf(deps, {
      operation: 'completion.create',
      body: parseCompletionRequest({ model: 'small', prompt: ['Hello', 'world'] }),
      route: routeCompletion,
      create: createCompletionCreate,
    }),
    await ceilingsOf(deps, {
      operation: 'embedding.create',
      body: parseEmbeddingRequest({ model: 'mini', input: 'Hello' }),
      route: routeEmbedding,
      create: createEmbeddingCreate,
    }),
  ]
  for (const { told, admitted, least } of all) {
    assert.equal(told.ceiling_nj, String(admitted))
    assert.equal(told.least_nj, String(least))
    assert.ok(BigInt(told.ceiling_nj) > FIRST_NJ)
    assert.equal(told.ceiling_j, Number(told.ceiling_nj) / 1e9)
  }
  assert.equal(new Set(all.map(({ told }) => told.ceiling_nj)).size, all.length)
  assert.equal(upstream.asked.length - before, all.length, 'only the requests themselves')
})

test('the ceiling of a request says what its stream may still take from the first piece on', async () => {
  upstream.script = streaming(...cellHello)
  const deps = depsOf([offerOf()], [provider])
  const chat = { operation: 'chat.create', route: routeChat, create: createChatCreate } as const
  const body = ask({ stream: true, max_tokens: 64 })
  const { told, rest } = await ceilingsOf(deps, { ...chat, body })
  assert.ok(rest !== undefined)
  assert.equal(told.stream_rest_nj, String(rest), 'as the head of the stream is bound')
  assert.ok(rest < BigInt(told.ceiling_nj))
})

test('the ceiling of embeddings has no rest, as they are never streamed', async () => {
  const offer = offerOf({ id: 'mini', modalities: ['embedding'], embeddingDimensions: 4 })
  const { told } = await ceilingsOf(depsOf([offer], [provider]), {
    operation: 'embedding.create',
    body: parseEmbeddingRequest({ model: 'mini', input: 'Hello' }),
    route: routeEmbedding,
    create: createEmbeddingCreate,
  })
  assert.equal(told.stream_rest_nj, undefined)
})
