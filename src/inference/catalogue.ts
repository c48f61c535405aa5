// Inference, seen from the gateway: the models, their providers, and the requests that each model takes. The engine
// that runs inside a model cell is in engine/; this side only speaks HTTP to it.
import { invariant } from '#base/errors.ts'
import type { Nj } from '#base/units.ts'
import type { Tier } from '#contract/ledger/charge.ts'

/**
 * Inputs and outputs of a model: `text` generates (chat and completions), `embedding` embeds; `image` and `audio` are
 * further inputs of a chat model.
 */
export type Modality = 'text' | 'embedding' | 'image' | 'audio'

/** One model at one provider, with the facts that the router needs. */
export type ModelOffer = {
  /** Public name, unique in the catalogue. */
  readonly id: string
  readonly provider: string
  /** A cell of ours serves it, not a server that somebody else runs. */
  readonly isCell?: boolean
  /** Its engine works on a GPU, of which the catalogue's figures know nothing. */
  readonly usesGpu?: boolean
  /** The name that the provider knows it by. */
  readonly upstreamId: string
  /** operator/region/silicon, as X-Routed-To prints it. */
  readonly routedTo: string
  readonly ownedBy: string
  readonly createdS: number
  /** The hardest class of request it is trusted with; it serves the easier ones too. */
  readonly tier: Tier
  /** demo: a real model, too weak for more than a demonstration. */
  readonly class: 'demo' | 'standard' | 'large'
  readonly modalities: readonly Modality[]
  /** Prompt and answer together, in tokens. */
  readonly context: number
  /** Longest answer when the request names none; the rest of the context when absent. */
  readonly defaultMaxTokens?: number
  /** weak: it calls tools, also by its own choice, but was not trained to choose well. */
  readonly tools: 'none' | 'weak' | 'trained'
  /** The model obeys response_format json_object and json_schema. */
  readonly structured: boolean
  readonly embeddingDimensions?: number
  /**
   * Tokens that its server adds to each prompt, where the operator says so: a long chat template, a
   * system prompt of its own. Else they are learned; see learned.ts.
   */
  readonly promptOverheadTokens?: number
  /** Declared cost, used until our own charges tell better, and to bill upstreams that have no meter. */
  readonly njPerPromptToken: Nj
  readonly njPerCompletionToken: Nj
  readonly state: 'ready' | 'loading' | 'failed'
  /** For loading: when to ask again. */
  readonly retryAfterS?: number
  /** For failed: why, in words for the caller. */
  readonly reason?: string
}

export interface Catalogue {
  /** The offers as of the last refresh, in the order in which equals are preferred. */
  models(): readonly ModelOffer[]
  /** Aliases that lead to one of these models, or to `auto`. A model's own name comes before an alias. */
  aliases(): ReadonlyMap<string, string>
  /** The model of an alias; of any other name, the name itself. */
  modelOf(name: string): string
}

/** Stands for the model that the router chooses. */
export const AUTO = 'auto'

/** A catalogue whose owner replaces the whole snapshot at once; ids must be unique. */
export function createCatalogue(initial: readonly ModelOffer[] = []): Catalogue & {
  replace(offers: readonly ModelOffer[], aliases: ReadonlyMap<string, string>): void
} {
  let snapshot = checked(initial)
  let leading: ReadonlyMap<string, string> = new Map()
  return {
    models: () => snapshot,
    aliases: () => leading,
    modelOf: (name) => leading.get(name) ?? name,
    replace(offers, aliases) {
      snapshot = checked(offers)
      const names = new Set([AUTO, ...offers.map(({ id }) => id)])
      leading = new Map([...aliases].filter(([name, to]) => !names.has(name) && names.has(to)))
    },
  }
}

/** X-Routed-To and X-Router-Reason print them. */
const HEADER_SAFE = /^[!-~]{1,200}$/

function checked(offers: readonly ModelOffer[]): readonly ModelOffer[] {
  const ids = new Set<string>()
  for (const offer of offers) {
    invariant(!ids.has(offer.id), `two offers of one model: ${offer.id}`)
    invariant(
      offer.njPerPromptToken > 0n && offer.njPerCompletionToken > 0n,
      `an offer that costs nothing: ${offer.id}`,
    )
    invariant(
      [offer.id, offer.routedTo].every((text) => HEADER_SAFE.test(text)),
      `an offer whose names do not fit into a header: ${offer.id}`,
    )
    ids.add(offer.id)
  }
  return Object.freeze([...offers])
}
