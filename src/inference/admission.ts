// The most that a request can cost: what is admitted before any of it is spent. Too low would cut an
// honest request short; too high costs its caller nothing, as a hold starts small and grows. And the
// least: what its prompt takes as soon as a model is asked, which is held before.
import { add, larger, nj, smaller, type Nj } from '#base/units.ts'
import type { Payer } from '#charging/spend.ts'
import { invariant } from '#base/errors.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import type { Learned, Tokens } from '#inference/learned.ts'
import { BYTES_PER_TOKEN, catalogueEnergy } from '#inference/providers/openai/meter.ts'
import type { Principal } from '#identity/principal.ts'

export type WorkSize = {
  /** UTF-8 bytes of the prompt: no byte-level tokenizer makes more tokens than bytes. */
  readonly promptBytes: number
  /** Bytes of a wished format: most servers guide the answer by it, some put it into the prompt. */
  readonly formatBytes?: number
  /** Number of messages, prompts or inputs. Each adds tokens of the chat template. */
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
/** The rest of it once the first piece has come: 5 ms. */
const REPLY_NJ = nj(100_000_000n)
/** Per streamed token: reading and printing a chunk takes 15 µs, writing it some more: 0.5 mJ at 20 W. */
const GATEWAY_NJ_PER_TOKEN = 500_000n
/** The measured tariff may be up to five times the catalogue's basis; after 99 % of charges 1.5. */
const UNKNOWN_FACTOR = 5n
const KNOWN_FACTOR_HALVES = 3n
/**
 * A lone answer on a large card draws some hundred watts beyond idle, whatever the model: on the CPU that figure knows it
 * is the energy of 100 answers. A ceiling above the bill costs nothing, and one below cuts the answer.
 */
const UNKNOWN_GPU_FACTOR = 200n

/** The figures by which a request is admitted at an offer. */
export type Bounds = {
  /** The most that its prompts are read as, in tokens, all together: beyond it nothing is billed. */
  readonly promptTokensMax: number
  /** The most that may be generated, in tokens of all answers. */
  readonly tokensMax: number
  /** Of `promptTokensMax`, what the server may add to each prompt. */
  readonly overheadTokens: number
  readonly ceilingNj: Nj
  /** Least energy of the prompt, due as soon as the offer is asked. */
  readonly leastNj: Nj
}

/** The bounds of a request at an offer, by the present knowledge of the offer. */
export function boundsOf(offer: ModelOffer, work: WorkSize, learned: Learned): Bounds {
  const overheadTokens = learned.overheadTokens(offer)
  const { promptTokensMax, tokensMax } = tokensAtMost(offer, work, overheadTokens)
  // An engine may read the prompt again for each answer.
  const tokens = { prompt: promptTokensMax * work.choices, completion: tokensMax }
  const ceilingNj = ceilingOf(offer, tokens, learned)
  const prompt = { prompt: Math.floor(work.promptBytes / BYTES_PER_TOKEN), completion: 0 }
  const leastNj = smaller(ceilingNj, learned.estimate(offer, prompt, 0.5))
  return { promptTokensMax, tokensMax, overheadTokens, ceilingNj, leastNj }
}

/** The most that an answer still takes when its first piece is there: what the head of its stream says. */
export function restOf(offer: ModelOffer, work: WorkSize, bounds: Bounds, learned: Learned): Nj {
  const { promptTokensMax, tokensMax } = bounds
  // A cell reports the energy of a single prompt with its first piece; an upstream reports at its end.
  const isRead = offer.isCell === true && work.prompts * work.choices === 1
  const prompt = isRead ? 0 : promptTokensMax
  const contexts = offer.isCell === true ? work.choices : 1
  const modelNj = modelCeiling(offer, { prompt: prompt * contexts, completion: tokensMax }, learned)
  return add(add(modelNj, REPLY_NJ), nj(GATEWAY_NJ_PER_TOKEN * BigInt(tokensMax)))
}

/** Upper bounds in tokens: of the prompts, and of the generated text. */
export function tokensAtMost(offer: ModelOffer, work: WorkSize, overheadTokens: number) {
  const { promptBytes, formatBytes = 0, promptTexts, media = 0, prompts, choices, maxTokens } = work
  const added =
    promptTexts * TEMPLATE_TOKENS_PER_TEXT + media * TOKENS_PER_MEDIA + prompts * overheadTokens
  const promptTokensMax = Math.min(promptBytes + formatBytes + added, offer.context * prompts)
  if (offer.modalities.includes('embedding')) return { promptTokensMax, tokensMax: 0 }
  const answer = Math.min(maxTokens ?? offer.defaultMaxTokens ?? offer.context, offer.context)
  return { promptTokensMax, tokensMax: answer * prompts * choices }
}

/** The most energy of a model for a number of tokens. */
function modelCeiling(offer: ModelOffer, tokens: Tokens, learned: Learned): Nj {
  // By which an upstream is billed, to the token.
  if (offer.isCell !== true) return catalogueEnergy(offer, tokens.prompt, tokens.completion)
  const estimate = learned.estimate(offer, tokens, 0.99)
  return learned.isKnown(offer)
    ? nj((estimate * KNOWN_FACTOR_HALVES) / 2n)
    : nj(estimate * (offer.usesGpu === true ? UNKNOWN_GPU_FACTOR : UNKNOWN_FACTOR))
}

function ceilingOf(offer: ModelOffer, tokens: Tokens, learned: Learned): Nj {
  // Not below the catalogue's: what was learned of short requests must not cut a long one.
  const guessNj = catalogueEnergy(offer, tokens.prompt, tokens.completion)
  const modelNj = larger(guessNj, modelCeiling(offer, tokens, learned))
  return add(add(modelNj, GATEWAY_NJ), nj(GATEWAY_NJ_PER_TOKEN * BigInt(tokens.completion)))
}

/** Inference is never anonymous: the pipeline identified the caller before it handed over. */
export function payerOf(caller: Principal | undefined): Payer {
  invariant(caller !== undefined, 'an inference operation without a principal')
  return { account: caller.account, token: caller.token, env: caller.env, funded: caller.funded }
}
