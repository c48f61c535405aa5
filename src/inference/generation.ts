// One generation: admits, asks the first offer, falls back to the next while nothing has reached the
// caller, and claims whatever is used, also by an offer that failed.
import { add, type Nj } from '#base/units.ts'
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Steps } from '#base/steps.ts'
import type { OperationName } from '#contract/operations.ts'
import { fault } from '#contract/errors.ts'
import type { Handled } from '#http/reply.ts'
import { boundsOf, payerOf, restOf, type Bounds, type WorkSize } from './admission.ts'
import type { Catalogue, ModelOffer } from './catalogue.ts'
import { Claims } from './claims.ts'
import type { Failures } from './failures.ts'
import type { Learned } from './learned.ts'
import { PaidSteps, type AnswerEvent } from './paid-steps.ts'
import type { GenerationCall, Provider, Providers } from './providers/provider.ts'
import { nameOf, type Choice } from './router/choose.ts'
import type { Shares } from './shares.ts'
import type { WholeRule } from './whole.ts'

export type InferenceDeps = {
  readonly catalogue: Catalogue
  readonly providers: Providers
  readonly learned: Learned
  readonly shares: Shares
  readonly whole: WholeRule
  readonly clock: Clock
  readonly failures: Failures
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
}

type Call = Pick<Handled, 'who' | 'spend' | 'signal'>

/**
 * What `answer` makes of the first offer that does not fail in it. It is called when the first piece is
 * there, so that until then a failure has a status; what it reads itself, the caller has not got either.
 */
export async function generate<Answer>(
  deps: InferenceDeps,
  plan: GenerationPlan,
  call: Call,
  answer: (started: Started) => Answer | Promise<Answer>,
): Promise<Answer> {
  const claims = new Claims(call.spend)
  let failure: unknown
  const failed: string[] = []
  for (const offer of plan.choice.offers) {
    let awaitsWhole = false
    let leave: (() => void) | undefined
    if (failure !== undefined && !mayFallBack(failure, call.signal)) break
    try {
      leave = deps.shares.enter(offer.provider, payerOf(call.who).account)
      const bounds = boundsOf(offer, plan.work, deps.learned)
      const admitted = admit(call, plan.operation, bounds)
      if (admitted !== undefined) await admitted
      call.spend.served({ model: offer.id, tier: plan.choice.tier, routedTo: offer.routedTo })
      claims.begin()
      const provider = providerOf(deps, offer)
      call.spend.served({ upstream: provider.energy })
      const asked = askedOf(deps, plan, { offer, bounds, call, provider })
      awaitsWhole = asked.whole === true
      const reads = provider.generate(asked, call.signal)
      const exceeded = (promptExcess: number, isWhole: boolean) =>
        learnOverhead(deps.learned, { offer, bounds, work: plan.work, promptExcess, isWhole })
      const { spend, signal } = call
      const steps = new PaidSteps(reads, {
        spend,
        signal,
        claims,
        answers: asked.choices,
        streamed: plan.streamed,
        exceeded,
        leave,
      })
      const begun = steps.begin()
      if (begun !== undefined) await begun
      closeOnAbort(steps, call.signal)
      if (awaitsWhole) deps.whole.stayed(payerOf(call.who).account)
      awaitsWhole = false
      if (plan.streamed) spend.bound(restOf(offer, plan.work, bounds, deps.learned))
      const reason = reasonOf(plan.choice, offer, failed)
      const measured = () => call.spend.measured()
      return await answer({ offer, reason, events: steps, measured })
    } catch (error) {
      leave?.()
      failure = error
      failed.push(`${offer.id} failed (${codeOf(error)})`)
      // A caller who leaves says nothing of the offer.
      if (!call.signal.aborted) deps.failures.tell(offer, error)
      else if (awaitsWhole) deps.whole.left(payerOf(call.who).account)
    }
  }
  throw failure
}

/** Of the offer that served: what was said of the first one holds while it did. */
const reasonOf = ({ because, reason }: Choice, offer: ModelOffer, failed: readonly string[]) =>
  failed.length === 0
    ? reason
    : `${because}; ${failed.join('; ')}; served by ${nameOf(offer)}, meant for ${offer.tier}`

/** Raises the cap of the request by a ceiling; what it was admitted with before stays in it. */
export function admit(
  { who, spend }: Call,
  operation: OperationName,
  { ceilingNj, leastNj }: Pick<Bounds, 'ceilingNj' | 'leastNj'>,
): void | Promise<void> {
  const ceiling = add(spend.ceilingNj, ceilingNj)
  return spend.admit(payerOf(who), operation, ceiling, leastNj)
}

function providerOf({ providers }: InferenceDeps, offer: ModelOffer): Provider {
  const provider = providers.get(offer.provider)
  if (provider === undefined)
    throw fault('model_not_available', `Could not serve ${offer.id}: its provider has gone`)
  return provider
}

function askedOf(
  deps: InferenceDeps,
  plan: GenerationPlan,
  asked: { offer: ModelOffer; bounds: Bounds; call: Call; provider: Provider },
): GenerationCall {
  const { offer, call, provider } = asked
  const { tokensMax, promptTokensMax } = asked.bounds
  const { spend } = call
  const { account } = payerOf(call.who)
  return {
    shape: plan.shape,
    offer,
    // A cell of ours lets accounts take turns; nobody else is told who asks.
    body: { ...bounded(plan.body, offer), ...(offer.isCell === true && { ergon_payer: account }) },
    promptBytes: plan.work.promptBytes,
    promptTokensMax,
    choices: plan.work.prompts * plan.work.choices,
    tokensMax,
    whole: !plan.streamed && deps.whole.allows({ provider, account, tokensMax, spend }),
  }
}

/**
 * A prompt of more tokens than can be is one to which its server adds something. An upstream is believed
 * when the answer is whole; a cell of ours at once, as it may be cut for just that.
 */
export function learnOverhead(
  learned: Learned,
  {
    offer,
    bounds,
    work,
    promptExcess,
    isWhole,
  }: { offer: ModelOffer; bounds: Bounds; work: WorkSize; promptExcess: number; isWhole: boolean },
): void {
  if (promptExcess > 0 && (isWhole || offer.isCell === true))
    learned.needsOverhead(offer, bounds.overheadTokens + Math.ceil(promptExcess / work.prompts))
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

/** What was admitted is also what may be generated: an answer without a limit gets the offer's. */
const bounded = (body: GenerationPlan['body'], offer: ModelOffer): GenerationPlan['body'] =>
  offer.defaultMaxTokens === undefined ? body : { max_tokens: offer.defaultMaxTokens, ...body }
