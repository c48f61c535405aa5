// Models as the list shows them: OpenAI's fields, then what the router goes by.
import { larger, printJoules, smaller } from '#base/units.ts'
import { TIERS } from '#contract/ledger/charge.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import { AUTO, type ModelOffer } from './catalogue.ts'
import type { InferenceDeps } from './generation.ts'
import type { Learned } from './learned.ts'
import type { ServerFault } from './providers/server-states.ts'

export type EntryDeps = Pick<InferenceDeps, 'catalogue' | 'learned' | 'failures'>
type OfferState = ModelOffer['state'] | ServerFault
type Facts = Omit<ModelOffer, 'provider' | 'upstreamId' | 'structured' | 'state'> & {
  readonly state: OfferState
}

/** The entry of an alias: that of its model, under the name of the alias. */
export const aliasEntry = (alias: string, model: string, entry: object): object => ({
  ...entry,
  id: alias,
  alias_of: model,
})

export const entryOfOffer = (offer: ModelOffer, deps: EntryDeps): object =>
  printed(factsOf(offer, deps), deps.learned.perThousandTokens(offer))

/** An offer is ready as far as its cell or its row knows; whether anybody answers there, the calls tell. */
const factsOf = (offer: ModelOffer, { failures }: EntryDeps): Facts => ({
  ...offer,
  state: (offer.state === 'ready' ? failures.faultOf(offer) : undefined) ?? offer.state,
})

/**
 * `auto` as an entry, so that programs which offer the listed models can offer it too: it has the abilities of any of
 * these. Its energy is the least and the most of those that generate. Undefined where there are none.
 */
export function autoEntry(offers: readonly ModelOffer[], deps: EntryDeps): object | undefined {
  if (offers.length === 0) return undefined
  const generating = offers.filter(({ modalities }) => modalities.includes('text'))
  const energies = (generating.length > 0 ? generating : offers).map((offer) =>
    deps.learned.perThousandTokens(offer),
  )
  const all = offers
    .map((offer) => factsOf(offer, deps))
    .reduce((one, other) => ({
      ...one,
      createdS: Math.max(one.createdS, other.createdS),
      tier: lastOf(TIERS, one.tier, other.tier),
      class: lastOf(CLASSES, one.class, other.class),
      modalities: [...new Set([...one.modalities, ...other.modalities])],
      context: Math.max(one.context, other.context),
      tools: lastOf(TOOLS, one.tools, other.tools),
      routedTo: one.routedTo.split(', ').includes(other.routedTo)
        ? one.routedTo
        : `${one.routedTo}, ${other.routedTo}`,
      state: lastOf(STATES, one.state, other.state),
    }))
  return printed(
    { ...all, id: AUTO, ownedBy: 'operator' },
    energies.reduce((one, other) => ({
      p50: smaller(one.p50, other.p50),
      p95: larger(one.p95, other.p95),
      samples: one.samples + other.samples,
    })),
  )
}

const TOOLS = ['none', 'weak', 'trained'] as const
const CLASSES = ['demo', 'standard', 'large'] as const
/** One that is ready is enough. */
const STATES: readonly OfferState[] = ['failed', 'unauthorized', 'unreachable', 'loading', 'ready']

const lastOf = <Value>(order: readonly Value[], one: Value, other: Value): Value =>
  order.indexOf(one) < order.indexOf(other) ? other : one

const printed = (
  model: Facts,
  { p50, p95, samples }: ReturnType<Learned['perThousandTokens']>,
): object => ({
  id: model.id,
  object: 'model',
  created: model.createdS,
  owned_by: model.ownedBy,
  tiers: TIERS.filter((tier) => tier <= model.tier),
  class: model.class,
  modalities: model.modalities,
  context_length: model.context,
  tools: model.tools,
  // samples 0: the catalogue's figure, nothing measured yet.
  energy_j_per_1k_tokens: {
    p50: rawNumber(printJoules(p50)),
    p95: rawNumber(printJoules(p95)),
    samples,
  },
  routed_to: model.routedTo,
  state: model.state,
})
