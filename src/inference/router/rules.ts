// Hard rules: whether an offer can serve a request at all. Nothing here is a matter of degree.
import type { Code } from '#contract/errors.ts'
import type { Tier } from '#contract/ledger/charge.ts'
import type { Modality, ModelOffer } from '#inference/catalogue.ts'

/** The router's facts of a request: its needs and its difficulty. */
export type RequestFacts = {
  /** The kind of answer. */
  readonly asks: 'text' | 'embedding'
  /** Further inputs that it holds. */
  readonly inputs: readonly Modality[]
  readonly tools: boolean
  readonly structured: boolean
  readonly dimensions?: number
  /** Bytes of the longest single prompt. */
  readonly promptBytes: number
  readonly tier: Tier
  /** Why it was put in that tier, in a few words. */
  readonly because: string
}

export type Misfit = { readonly code: Code; readonly param: string; readonly why: string }

/**
 * Text has about four bytes per token; a text that is twice too long is refused here, any other by the model's own
 * count.
 */
const BYTES_PER_TOKEN_MAX = 8

type OfferRule = (offer: ModelOffer, facts: RequestFacts) => Misfit | undefined
const unsupported = (param: string, why: string): Misfit => ({
  code: 'unsupported_parameter',
  param,
  why,
})

const RULES: readonly OfferRule[] = [
  (offer, facts) =>
    offer.modalities.includes(facts.asks)
      ? undefined
      : { code: 'invalid_request', param: 'model', why: `it does not serve ${facts.asks}` },
  (offer, facts) => {
    const missing = facts.inputs.find((input) => !offer.modalities.includes(input))
    return missing && unsupported('messages', `it takes no ${missing}`)
  },
  (offer, facts) =>
    facts.tools && offer.tools === 'none' ? unsupported('tools', 'it calls no tools') : undefined,
  (offer, facts) =>
    facts.structured && !offer.structured
      ? unsupported('response_format', 'it gives plain text only')
      : undefined,
  (offer, facts) =>
    facts.dimensions === undefined || facts.dimensions === offer.embeddingDimensions
      ? undefined
      : unsupported('dimensions', `it gives ${offer.embeddingDimensions ?? 'no'} dimensions`),
  (offer, facts) =>
    facts.promptBytes <= offer.context * BYTES_PER_TOKEN_MAX
      ? undefined
      : {
          code: 'context_length_exceeded',
          param: facts.asks === 'embedding' ? 'input' : 'messages',
          why: `its context is ${offer.context} tokens`,
        },
]

/** The first rule that keeps an offer from serving a request, or undefined when it can. */
export function misfitOf(offer: ModelOffer, facts: RequestFacts): Misfit | undefined {
  for (const rule of RULES) {
    const misfit = rule(offer, facts)
    if (misfit !== undefined) return misfit
  }
  return undefined
}
