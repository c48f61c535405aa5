// What each model really costs, learned from our own settled charges: the catalogue only guesses
// until enough of them came. Feeds the choice of the cheapest, the ceilings and the model list.
import { nj, type Nj } from '#base/units.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import { catalogueEnergy } from '#inference/providers/meter.ts'
import { createQuantiles, type Quantiles, type SavedQuantiles } from './quantiles.ts'

export type Tokens = { readonly prompt: number; readonly completion: number }

export type Learned = {
  /** A settled charge: its whole energy, the gateway's share included. */
  record(offer: ModelOffer, tokens: Tokens, energyNj: Nj): void
  /** Energy of 1000 tokens of the mixture that callers send; the catalogue's when samples is 0. */
  perThousandTokens(offer: ModelOffer): { p50: Nj; p95: Nj; samples: number }
  /** What work will take: the catalogue's energy times the learned ratio at a quantile. */
  estimate(offer: ModelOffer, tokens: Tokens, quantile: number): Nj
  /** Whether the estimates rest on charges rather than on the catalogue. */
  isKnown(offer: ModelOffer): boolean
  /** What was learned of each model since the last call, to begin the next life with. */
  changes(): readonly SavedCosts[]
}

export type SavedCosts = {
  readonly model: string
  /** Of the catalogue, in nJ per token of prompt and answer: what was learned is relative to them. */
  readonly declared: readonly [prompt: string, completion: string]
  readonly ratio: SavedQuantiles
  readonly njPerToken: SavedQuantiles
}

type Costs = Pick<ModelOffer, 'njPerPromptToken' | 'njPerCompletionToken'> & {
  readonly ratio: Quantiles
  readonly njPerToken: Quantiles
}

/** Fewer charges than this may all be of one kind. */
const SAMPLES_MIN = 8
const MILLI = 1000

/** Learned per model id; ids come from the catalogue, so the map is as small as that. */
export function createLearned(saved: readonly SavedCosts[] = []): Learned {
  const models = new Map<string, Costs>(saved.map((one) => [one.model, costsOf(one)]))
  const changed = new Set<string>()

  /** What is known of it; of another model of that name, or otherwise declared, nothing is. */
  const of = (offer: ModelOffer): Costs | undefined => {
    const costs = models.get(offer.id)
    const isSame =
      costs?.njPerPromptToken === offer.njPerPromptToken &&
      costs.njPerCompletionToken === offer.njPerCompletionToken
    return isSame ? costs : undefined
  }
  const isKnown = (offer: ModelOffer) => (of(offer)?.ratio.samples ?? 0) >= SAMPLES_MIN

  return {
    isKnown,
    record(offer, tokens, energyNj) {
      const guessNj = catalogueEnergy(offer, tokens.prompt, tokens.completion)
      if (guessNj <= 0n || energyNj <= 0n) return
      const model = of(offer) ?? newCosts(offer)
      models.set(offer.id, model)
      changed.add(offer.id)
      model.ratio.record(Number(energyNj) / Number(guessNj))
      model.njPerToken.record(Number(energyNj) / (tokens.prompt + tokens.completion))
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
  ratio: createQuantiles(),
  njPerToken: createQuantiles(),
})

const savedOf = (model: string, costs: Costs): SavedCosts => ({
  model,
  declared: [costs.njPerPromptToken.toString(), costs.njPerCompletionToken.toString()],
  ratio: costs.ratio.save(),
  njPerToken: costs.njPerToken.save(),
})

const costsOf = ({ declared: [prompt, completion], ratio, njPerToken }: SavedCosts): Costs => ({
  njPerPromptToken: nj(BigInt(prompt)),
  njPerCompletionToken: nj(BigInt(completion)),
  ratio: createQuantiles(undefined, ratio),
  njPerToken: createQuantiles(undefined, njPerToken),
})
