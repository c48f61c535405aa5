// One generation: admits, asks the first offer, falls back to the next while nothing has reached the
// caller, and claims whatever is used, also by an offer that failed.
import type { Nj } from '#base/units.ts'
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Steps } from '#base/steps.ts'
import type { OperationName } from '#contract/operations.ts'
import { restOf, type WorkSize } from './admission.ts'
import type { ModelOffer } from './catalogue.ts'
import { RequestClaims } from './claims.ts'
import { PaidCall, type PaidRequest, type PaidCallDeps } from './paid-call.ts'
import { PaidSteps, type AnswerEvent } from './paid-steps.ts'
import type { GenerationCall, Provider } from './providers/provider.ts'
import { nameOf, type Choice } from './router/choose.ts'
import type { WholeRule } from './whole.ts'

export type InferenceDeps = PaidCallDeps & {
  readonly whole: WholeRule
  readonly clock: Clock
}

export type GenerationPlan = {
  readonly operation: OperationName
  readonly choice: Choice
  readonly work: WorkSize
  readonly shape: GenerationCall['shape']
  /** The caller wants chunks as they come. */
  readonly streamed: boolean
  readonly body: Readonly<Record<string, unknown>>
}

export type Started = {
  readonly offer: ModelOffer
  readonly reason: string
  /** From the first piece of the answer to its end; what was used is claimed already. */
  readonly events: Steps<readonly AnswerEvent[]>
  /** Everything that it took so far, billed or not. */
  measured(): Nj
  /** The most that it is billed. */
  ceiling(): Nj
}

/**
 * The result of `answer` for the first offer that does not fail in it. `answer` is called with the first piece, so
 * that an earlier failure still has a status. The caller has not received the pieces that `answer` itself reads.
 */
export async function generate<Answer>(
  deps: InferenceDeps,
  plan: GenerationPlan,
  request: PaidRequest,
  answer: (started: Started) => Answer | Promise<Answer>,
): Promise<Answer> {
  const { operation, work, choice } = plan
  const claims = new RequestClaims(request.spend)
  const failed: string[] = []
  let failure: unknown
  for (const offer of choice.offers) {
    if (failure !== undefined && !mayFallBack(failure, request.signal)) break
    const call = new PaidCall(deps, { operation, offer, tier: choice.tier, work, request, claims })
    try {
      const admitted = call.admit()
      if (admitted !== undefined) await admitted
      const events = await begin(deps, plan, call)
      const reason = reasonOf(choice, offer, failed)
      const measured = () => request.spend.measured()
      const ceiling = () => request.spend.estimate().ceilingNj
      return await answer({ offer, reason, events, measured, ceiling })
    } catch (error) {
      call.failed(error)
      failure = error
      failed.push(`${offer.id} failed (${codeOf(error)})`)
    }
  }
  throw failure
}

/** The steps of the answer, once the first is there. */
async function begin(
  deps: InferenceDeps,
  plan: GenerationPlan,
  call: PaidCall,
): Promise<PaidSteps> {
  const { request, account } = call
  const provider = call.open()
  const asked = askedOf(deps.whole, plan, call, provider)
  const { choices: answers, whole } = asked
  const reads = provider.generate(asked, request.signal)
  const steps = new PaidSteps(reads, call, { answers, streamed: plan.streamed })
  try {
    const begun = steps.begin()
    if (begun !== undefined) await begun
  } catch (error) {
    if (whole === true && request.signal.aborted) deps.whole.left(account)
    throw error
  }
  closeOnAbort(steps, request.signal)
  if (whole === true) deps.whole.stayed(account)
  if (plan.streamed) request.spend.bound(restOf(call.offer, plan.work, call.bounds, deps.learned))
  return steps
}

/** The reason of the offer that served. The reason of the first choice holds while that offer served. */
const reasonOf = ({ because, reason }: Choice, offer: ModelOffer, failed: readonly string[]) =>
  failed.length === 0
    ? reason
    : `${because}; ${failed.join('; ')}; served by ${nameOf(offer)}, meant for ${offer.tier}`

function askedOf(
  whole: WholeRule,
  plan: GenerationPlan,
  { offer, account, bounds, request: { spend } }: PaidCall,
  provider: Provider,
): GenerationCall {
  const { tokensMax, promptTokensMax } = bounds
  return {
    shape: plan.shape,
    offer,
    // Our cells let accounts take turns; an upstream never learns the account.
    body: { ...bounded(plan.body, offer), ...(offer.isCell === true && { ergon_payer: account }) },
    promptBytes: plan.work.promptBytes,
    promptTokensMax,
    choices: plan.work.prompts * plan.work.choices,
    tokensMax,
    whole: !plan.streamed && whole.allows({ provider, account, tokensMax, spend }),
  }
}

/** A caller who goes while nobody pulls leaves nobody to end the steps. */
function closeOnAbort(steps: PaidSteps, signal: AbortSignal): void {
  const close = () => {
    if (!steps.isPulled) void steps.dispose()
  }
  if (signal.aborted) close()
  else signal.addEventListener('abort', close, { once: true })
}

const FALLS_BACK = new Set([
  'upstream_failed',
  'upstream_timeout',
  'overloaded',
  'too_many_requests',
  'model_loading',
  'model_not_available',
])

const mayFallBack = (error: unknown, signal: AbortSignal): boolean =>
  !signal.aborted && FALLS_BACK.has(codeOf(error))

const codeOf = (error: unknown): string => (error instanceof ErgonError ? error.code : 'internal')

/** The body with the admitted limit of tokens: an answer without a limit gets the offer's. */
const bounded = (body: GenerationPlan['body'], offer: ModelOffer): GenerationPlan['body'] =>
  offer.defaultMaxTokens === undefined ? body : { max_tokens: offer.defaultMaxTokens, ...body }
