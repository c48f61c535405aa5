// POST …/ceiling: the most that a request of this body would be billed, and of a stream what is left of that from its first
// piece on. The body is read, judged and routed like the request itself, and no model is asked.
import { add, priceOf, printJoules } from '#base/units.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import type { Handler } from '#http/reply.ts'
import { boundsOf, restOf, type WorkSize } from '#inference/admission.ts'
import type { InferenceDeps } from '#inference/generation.ts'
import type { Choice } from '#inference/router/choose.ts'

/** A request that was routed. */
export type RoutedRequest = { readonly choice: Choice; readonly work: WorkSize }

export type RouteRequest<Body> = (deps: InferenceDeps, body: Body) => RoutedRequest

export const createCeiling =
  <Body>(
    deps: InferenceDeps & { readonly pusdPerJ: () => bigint },
    route: RouteRequest<Body>,
  ): Handler<Body> =>
  ({ body: request, spend }) => {
    const { choice, work } = route(deps, request)
    const [offer] = choice.offers
    const bounds = boundsOf(offer, work, deps.learned)
    // The gateway's own reading is admitted before, for this request as for that one.
    const ceilingNj = add(spend.ceilingNj, bounds.ceilingNj)
    const body = {
      object: 'ceiling',
      model: offer.id,
      tier: choice.tier,
      router_reason: choice.reason,
      ceiling_j: rawNumber(printJoules(ceilingNj)),
      ceiling_nj: ceilingNj.toString(),
      ceiling_pusd: priceOf(ceilingNj, deps.pusdPerJ()).toString(),
      least_nj: bounds.leastNj.toString(),
      ...(!offer.modalities.includes('embedding') && {
        stream_rest_nj: restOf(offer, work, bounds, deps.learned).toString(),
      }),
      prompt_tokens_max: bounds.promptTokensMax,
      completion_tokens_max: bounds.tokensMax,
    }
    return { kind: 'known', status: 200, body: () => body }
  }
