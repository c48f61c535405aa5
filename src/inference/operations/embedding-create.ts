// POST /v1/embeddings.
import { directEnergy } from '#contract/charge.ts'
import { larger } from '#base/units.ts'
import type { EmbeddingRequest } from '#contract/inference.ts'
import type { Handled, Handler } from '#http/reply.ts'
import {
  boundsOf,
  payerOf,
  tokensAtMost,
  type Bounds,
  type WorkSize,
} from '#inference/admission.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import { Claims } from '#inference/claims.ts'
import { admit, learnOverhead, type InferenceDeps } from '#inference/generation.ts'
import { fault, isServiceFault } from '#contract/errors.ts'
import { isWant } from '#inference/paid-steps.ts'
import { usageText } from '#inference/replies/figures.ts'
import { choose } from '#inference/router/choose.ts'
import { expectedOf } from './fields.ts'
import { textBytes, textsOf, type InputText } from './texts.ts'

/**
 * An upstream tells nothing before the whole list: what a batch costs is known at its end, and of a caller who
 * leaves in the middle only by the bytes of the batch.
 */
const BATCH_INPUTS = 32

/** Vectors of texts, as numbers or (the SDKs' default) base64 of little-endian float32. */
export const createEmbeddingCreate =
  (deps: InferenceDeps): Handler<EmbeddingRequest> =>
  async (call) => {
    const { model, input, dimensions, encoding_format: encoding } = call.body
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
    const { offers, tier, reason } = choose(
      deps.catalogue.models(),
      question,
      deps.learned,
      deps.failures.rests,
    )
    const [offer] = offers
    const bounds = boundsOf(offer, work, deps.learned)
    await admit(call, 'embedding.create', bounds)
    call.spend.served({ model: offer.id, tier, routedTo: offer.routedTo })
    const leave = deps.shares.enter(offer.provider, payerOf(call.who).account)
    const asked = { offer, bounds, texts, call }
    const { vectors, promptTokens } = await embedAll(deps, asked)
      .catch((error: unknown) => {
        // A caller who leaves says nothing of the offer.
        if (!call.signal.aborted) deps.failures.tell(offer, error)
        throw error
      })
      .finally(leave)
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
        const energyNj = larger(directEnergy(charge), call.spend.measured())
        deps.learned.record(offer, { prompt: promptTokens, completion: 0 }, energyNj)
        const answer = JSON.stringify({ object: 'list', data, model: offer.id })
        return `${answer.slice(0, -1)},"usage":${usageText({ promptTokens }, charge)}}`
      },
    }
  }

const workOf = (texts: readonly InputText[]): WorkSize => ({
  promptBytes: textBytes(texts),
  promptTexts: texts.length,
  prompts: texts.length,
  choices: 1,
})

type Job = {
  readonly offer: ModelOffer
  readonly bounds: Bounds
  readonly texts: readonly InputText[]
  readonly call: Pick<Handled, 'spend' | 'signal'>
}

async function embedAll(deps: InferenceDeps, { offer, bounds, texts, call }: Job) {
  const provider = deps.providers.get(offer.provider)
  if (provider === undefined)
    throw fault('model_not_available', `Could not serve ${offer.id}: its provider has gone`)
  const claims = new Claims(call.spend)
  const vectors: Float32Array[] = []
  let promptTokens = 0
  let missing = texts.length
  try {
    for (let at = 0; at < texts.length; at += BATCH_INPUTS) {
      const input = texts.slice(at, at + BATCH_INPUTS)
      const work = workOf(input)
      const { promptTokensMax } = tokensAtMost(offer, work, bounds.overheadTokens)
      const batch = { offer, input, promptBytes: work.promptBytes, promptTokensMax }
      const before = promptTokens
      let promptExcess = 0
      claims.begin()
      for await (const events of provider.embed(batch, call.signal)) {
        for (const event of events) {
          if (event.kind !== 'vector') continue
          vectors[at + event.index] = event.vector
          missing--
        }
        for (const event of events) {
          if (event.kind !== 'used') continue
          promptTokens = before + event.promptTokens
          promptExcess = event.promptExcess ?? 0
          call.spend.served({ promptTokens })
          // What is all there is given, whatever of it can still be paid.
          if (missing > 0) claims.claim(event.used)
          else await claims.finish(event.used)
          if (call.spend.cutReason !== undefined) throw call.spend.cutReason
        }
      }
      learnOverhead(deps.learned, { offer, bounds, work, promptExcess, isWhole: true })
    }
  } catch (error) {
    const reason = call.spend.cutReason ?? error
    const why = call.signal.aborted ? call.signal.reason : reason
    // Vectors are given all or not at all: who cannot pay for all of them pays for none.
    if (isServiceFault(why) || isWant(why)) claims.absorb()
    throw reason
  }
  return { vectors, promptTokens }
}

function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}
