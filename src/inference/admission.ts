// The most that a request can cost: what is admitted before any of it is spent. Too low would cut an
// honest request short; too high costs its caller nothing, as a hold starts small and grows.
import { add, nj, type Nj } from '#base/units.ts'
import type { Payer } from '#charging/spend.ts'
import { invariant } from '#base/errors.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import type { Learned } from '#inference/learned.ts'
import type { Principal } from '#identity/principal.ts'

export type Work = {
  /** UTF-8 bytes of the prompt: no byte-level tokenizer makes more tokens than bytes. */
  readonly promptBytes: number
  /** Texts that are read: messages, prompts or inputs; each adds tokens of the chat template. */
  readonly promptTexts: number
  /** Images and sounds among them. */
  readonly media?: number
  /** Separate contexts: 1 for chat, one per prompt of a completion or input of an embedding. */
  readonly prompts: number
  /** Answers to each prompt, which an engine may read again for each. */
  readonly choices: number
  /** Longest answer, when the request says. */
  readonly maxTokens?: number
}

const TEMPLATE_TOKENS_PER_TEXT = 16
/** A large image in the finest tiling; a minute of sound is less. */
const TOKENS_PER_MEDIA = 4096
/** The gateway's own share: 50 ms of CPU at 20 W, a hundred times what a short answer takes. */
const GATEWAY_NJ = nj(1_000_000_000n)
/** Per streamed token: reading and printing a chunk takes 15 µs, writing it some more: 0.5 mJ at 20 W. */
const GATEWAY_NJ_PER_TOKEN = 500_000n
/** The measured tariff may be up to five times the catalogue's basis; after 99 % of charges 1.5. */
const UNKNOWN_FACTOR = 5n
const KNOWN_FACTOR_HALVES = 3n

/** Upper bounds in tokens: what the prompt can be, and what may be generated. */
export function tokensAtMost(offer: ModelOffer, work: Work) {
  const { promptBytes, promptTexts, media = 0, prompts, choices, maxTokens } = work
  const prompt = Math.min(
    promptBytes + promptTexts * TEMPLATE_TOKENS_PER_TEXT + media * TOKENS_PER_MEDIA,
    offer.context * prompts,
  )
  if (offer.modalities.includes('embedding')) return { prompt, completion: 0 }
  const answer = Math.min(maxTokens ?? offer.defaultMaxTokens ?? offer.context, offer.context)
  return { prompt: prompt * choices, completion: answer * prompts * choices }
}

/** The ceiling in nJ that a request is admitted with. */
export function ceilingOf(offer: ModelOffer, work: Work, learned: Learned): Nj {
  const tokens = tokensAtMost(offer, work)
  const estimate = learned.estimate(offer, tokens, 0.99)
  const modelNj = learned.isKnown(offer)
    ? nj((estimate * KNOWN_FACTOR_HALVES) / 2n)
    : nj(estimate * UNKNOWN_FACTOR)
  return add(add(modelNj, GATEWAY_NJ), nj(GATEWAY_NJ_PER_TOKEN * BigInt(tokens.completion)))
}

/** Inference is never anonymous: the pipeline identified the caller before it handed over. */
export function payerOf(who: Principal | undefined): Payer {
  invariant(who !== undefined, 'an inference operation without a principal')
  return { account: who.account, token: who.token, env: who.env, funded: who.funded }
}
