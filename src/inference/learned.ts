// The cost of each model, learned from our own settled charges; the catalogue's figures are a guess until enough of
// them have come. Feeds the choice of the cheapest, the ceilings and the model list.
import { nj, type Nj } from '#base/units.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import { catalogueEnergy } from '#inference/providers/openai/meter.ts'
import { createQuantiles, type Quantiles, type SavedQuantiles } from './quantiles.ts'

export type Tokens = { readonly prompt: number; readonly completion: number }

export type Learned = {
  /** A whole answer: all its energy, with the gateway's share and the unbilled part. */
  record(offer: ModelOffer, tokens: Tokens, energyNj: Nj): void
  /** The most that the offer's server is believed to add to a prompt, in tokens. */
  overheadTokens(offer: ModelOffer): number
  /** A prompt had more tokens than that explains: this number would explain it. */
  needsOverhead(offer: ModelOffer, tokens: number): void
  /** Energy of 1000 tokens of the mixture that callers send; the catalogue's when samples is 0. */
  perThousandTokens(offer: ModelOffer): { p50: Nj; p95: Nj; samples: number }
  /** Expected energy: the catalogue's figure times the learned ratio at a quantile. */
  estimate(offer: ModelOffer, tokens: Tokens, quantile: number): Nj
  /** The estimates rest on charges rather than on the catalogue. */
  isKnown(offer: ModelOffer): boolean
  /** The learned costs of each model that changed since the last call; the next life begins with them. */
  changes(): readonly SavedCosts[]
}

export type SavedCosts = {
  readonly model: string
  /** The figures of the catalogue, in nJ per token of prompt and answer: what was learned is relative to them. */
  readonly declared: readonly [prompt: string, completion: string]
  readonly ratio: SavedQuantiles
  readonly njPerToken: SavedQuantiles
  /** Absent in the saved costs of older versions. */
  readonly overheadTokens?: number
}

type Costs = Pick<ModelOffer, 'njPerPromptToken' | 'njPerCompletionToken'> & {
  overheadTokens: number
  readonly ratio: Quantiles
  readonly njPerToken: Quantiles
}

/** Fewer charges than this may all be of one kind. */
const SAMPLES_MIN = 8
const MILLI = 1000
/**
 * Only the server knows the tokens that it adds to a prompt. Its figure is accepted up to the size of a chat template,
 * and each answer that declares more doubles the accepted size. So a system prompt of 400 tokens is billed whole from
 * the fourth answer on, and a false figure is worth at most twice the size accepted before, and never more than the
 * limit. A size that the operator declares is accepted as it is, and nothing above it. Our own cells count the tokens
 * that they read: their figure is accepted as it is.
 */
const TEMPLATE_TOKENS = 64
const OVERHEAD_TOKENS_MAX = 1024

/** Learned per model id; ids come from the catalogue, so the map is as small as that. */
export function createLearned(saved: readonly SavedCosts[] = []): Learned {
  const models = new Map<string, Costs>(saved.map((one) => [one.model, costsOf(one)]))
  const changed = new Set<string>()

  /** The costs of the offer; none when they are those of another model of its name, or of another declared energy. */
  const of = (offer: ModelOffer): Costs | undefined => {
    const costs = models.get(offer.id)
    const isSame =
      costs?.njPerPromptToken === offer.njPerPromptToken &&
      costs.njPerCompletionToken === offer.njPerCompletionToken
    return isSame ? costs : undefined
  }
  const change = (offer: ModelOffer): Costs => {
    const costs = of(offer) ?? newCosts(offer)
    models.set(offer.id, costs)
    changed.add(offer.id)
    return costs
  }
  const overheadTokens = (offer: ModelOffer): number =>
    offer.promptOverheadTokens ?? of(offer)?.overheadTokens ?? TEMPLATE_TOKENS
  const isKnown = (offer: ModelOffer) => (of(offer)?.ratio.samples ?? 0) >= SAMPLES_MIN

  return {
    isKnown,
    record(offer, tokens, energyNj) {
      const guessNj = catalogueEnergy(offer, tokens.prompt, tokens.completion)
      if (guessNj <= 0n || energyNj <= 0n) return
      const model = change(offer)
      model.ratio.record(Number(energyNj) / Number(guessNj))
      model.njPerToken.record(Number(energyNj) / (tokens.prompt + tokens.completion))
    },
    overheadTokens,
    needsOverhead(offer, tokens) {
      if (offer.promptOverheadTokens !== undefined) return
      const known = overheadTokens(offer)
      const believed =
        offer.isCell === true ? offer.context : Math.min(known * 2, OVERHEAD_TOKENS_MAX)
      const next = Math.min(tokens, believed)
      if (next > known) change(offer).overheadTokens = next
    },
    perThousandTokens(offer) {
      const rate = of(offer)?.njPerToken
      const guess = offer.modalities.includes('embedding')
        ? offer.njPerPromptToken
        : offer.njPerCompletionToken
      const at = (quantile: number) => {
        const learned = rate?.at(quantile)
        return learned === undefined ? nj(guess * 1000n) : nj(BigInt(Math.round(learned * 1000)))
      }
      return { p50: at(0.5), p95: at(0.95), samples: rate?.samples ?? 0 }
    },
    estimate(offer, tokens, quantile) {
      const guess = catalogueEnergy(offer, tokens.prompt, tokens.completion)
      const ratio = isKnown(offer) ? (of(offer)?.ratio.at(quantile) ?? 1) : 1
      return nj((guess * BigInt(Math.ceil(ratio * MILLI))) / BigInt(MILLI))
    },
    changes() {
      const now = [...models].filter(([model]) => changed.has(model))
      changed.clear()
      return now.map(([model, costs]) => savedOf(model, costs))
    },
  }
}

const newCosts = ({ njPerPromptToken, njPerCompletionToken }: ModelOffer): Costs => ({
  njPerPromptToken,
  njPerCompletionToken,
  overheadTokens: TEMPLATE_TOKENS,
  ratio: createQuantiles(),
  njPerToken: createQuantiles(),
})

const savedOf = (model: string, costs: Costs): SavedCosts => ({
  model,
  declared: [costs.njPerPromptToken.toString(), costs.njPerCompletionToken.toString()],
  ratio: costs.ratio.save(),
  njPerToken: costs.njPerToken.save(),
  overheadTokens: costs.overheadTokens,
})

const costsOf = ({ declared: [prompt, completion], ...saved }: SavedCosts): Costs => ({
  njPerPromptToken: nj(BigInt(prompt)),
  njPerCompletionToken: nj(BigInt(completion)),
  overheadTokens: saved.overheadTokens ?? TEMPLATE_TOKENS,
  ratio: createQuantiles(undefined, saved.ratio),
  njPerToken: createQuantiles(undefined, saved.njPerToken),
})
