// POST /v1/embeddings.
import { directEnergy } from '#contract/ledger/charge.ts'
import { larger } from '#base/units.ts'
import type { EmbeddingRequest } from '#contract/inference/inference.ts'
import type { Handler } from '#http/reply.ts'
import { tokensAtMost, type WorkSize } from '#inference/admission.ts'
import { RequestClaims } from '#inference/claims.ts'
import type { InferenceDeps } from '#inference/generation.ts'
import { PaidCall } from '#inference/paid-call.ts'
import { usageText } from '#inference/replies/figures.ts'
import { choose } from '#inference/router/choose.ts'
import type { RoutedRequest } from './chat-ceiling.ts'
import { expectedOf } from '#inference/fields.ts'
import { textBytes, textsOf, type InputText } from '#inference/texts.ts'

/**
 * An upstream tells nothing before the whole list: what a batch costs is known at its end, and of a caller who
 * leaves in the middle only by the bytes of the batch.
 */
const BATCH_INPUTS = 32

/** Vectors of texts, as numbers or (the SDKs' default) base64 of little-endian float32. */
export const createEmbeddingCreate =
  (deps: InferenceDeps): Handler<EmbeddingRequest> =>
  async (request) => {
    const { input, encoding_format: encoding } = request.body
    const texts = textsOf(input)
    const { choice, work } = routeEmbedding(deps, request.body)
    const { offers, tier, reason } = choice
    const [offer] = offers
    const claims = new RequestClaims(request.spend)
    const asked = { operation: 'embedding.create', offer, tier, work, request, claims } as const
    const call = new PaidCall(deps, asked)
    const { vectors, promptTokens } = await embedAll(call, texts).catch((error: unknown) => {
      call.failed(error)
      throw error
    })
    const data = vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'base64' ? base64Of(vector) : [...vector],
    }))
    return {
      kind: 'known',
      status: 200,
      headers: { 'x-router-reason': reason },
      body: (charge) => {
        const energyNj = larger(directEnergy(charge), request.spend.measured())
        deps.learned.record(offer, { prompt: promptTokens, completion: 0 }, energyNj)
        const answer = JSON.stringify({ object: 'list', data, model: offer.id })
        return `${answer.slice(0, -1)},"usage":${usageText({ promptTokens }, charge)}}`
      },
    }
  }

/** Throws what refuses the request before a model is asked. */
export function routeEmbedding(
  deps: InferenceDeps,
  { model, input, dimensions }: EmbeddingRequest,
): RoutedRequest {
  const texts = textsOf(input)
  const work = workOf(texts)
  const facts = {
    asks: 'embedding',
    inputs: [],
    tools: false,
    structured: false,
    promptBytes: Math.max(...texts.map((text) => textBytes([text]))),
    tier: 'L0',
    because: 'embedding',
    ...(dimensions === undefined || dimensions === null ? {} : { dimensions }),
  } as const
  const question = { model: deps.catalogue.modelOf(model), facts, ...expectedOf(work) }
  const choice = choose(deps.catalogue.models(), question, deps.learned, deps.failures.rests)
  return { choice, work }
}

const workOf = (texts: readonly InputText[]): WorkSize => ({
  promptBytes: textBytes(texts),
  promptTexts: texts.length,
  prompts: texts.length,
  choices: 1,
})

/** The vectors of all texts. They are given all or not at all. */
async function embedAll(call: PaidCall, texts: readonly InputText[]) {
  await call.admit()
  const vectors: Float32Array[] = []
  let promptTokens = 0
  try {
    for (let at = 0; at < texts.length; at += BATCH_INPUTS) {
      const embedded = await embedBatch(call, texts.slice(at, at + BATCH_INPUTS), {
        isLast: at + BATCH_INPUTS >= texts.length,
        promptTokens,
      })
      vectors.push(...embedded.vectors)
      ;({ promptTokens } = embedded)
    }
  } catch (error) {
    throw call.reasonOf(error, false)
  }
  call.leave()
  return { vectors, promptTokens }
}

/** `before`: tokens of the batches before. */
async function embedBatch(
  call: PaidCall,
  input: readonly InputText[],
  before: { readonly isLast: boolean; readonly promptTokens: number },
) {
  const { offer, bounds, request } = call
  const { spend, signal } = request
  const work = workOf(input)
  const { promptTokensMax } = tokensAtMost(offer, work, bounds.overheadTokens)
  const batch = { offer, input, promptBytes: work.promptBytes, promptTokensMax }
  const vectors: Float32Array[] = []
  let { promptTokens } = before
  let promptExcess = 0
  let missing = input.length
  for await (const events of call.open().embed(batch, signal)) {
    for (const event of events) {
      if (event.kind !== 'vector') continue
      vectors[event.index] = event.vector
      missing--
    }
    for (const event of events) {
      if (event.kind !== 'used') continue
      promptTokens = before.promptTokens + event.promptTokens
      promptExcess = event.promptExcess ?? 0
      spend.served({ promptTokens })
      if (before.isLast && missing === 0) await call.finish(event)
      else call.claim(event)
      if (spend.cutReason !== undefined) throw spend.cutReason
    }
  }
  call.exceeded(promptExcess, true, work)
  return { vectors, promptTokens }
}

function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}
