// A model as the list shows it: OpenAI's fields, then what the router goes by.
import { printJoules } from '#base/units.ts'
import { TIERS } from '#contract/charge.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import type { Learned } from '#inference/learned.ts'
import { rawNumber } from '#contract/raw-json.ts'

export function entryOf(offer: ModelOffer, learned: Learned): object {
  const { p50, p95, samples } = learned.perThousandTokens(offer)
  return {
    id: offer.id,
    object: 'model',
    created: offer.createdS,
    owned_by: offer.ownedBy,
    tiers: TIERS.filter((tier) => tier <= offer.tier),
    class: offer.class,
    modalities: offer.modalities,
    context_length: offer.context,
    // samples 0: the catalogue's figure, nothing measured yet.
    energy_j_per_1k_tokens: {
      p50: rawNumber(printJoules(p50)),
      p95: rawNumber(printJoules(p95)),
      samples,
    },
    routed_to: offer.routedTo,
    state: offer.state,
  }
}
