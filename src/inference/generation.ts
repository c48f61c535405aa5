// One generation: admits, asks the first offer, falls back to the next while nothing has reached the
// caller, and claims whatever is used, also by an offer that failed.
import { add, type Nj } from '#base/units.ts'
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Spend } from '#charging/spend.ts'
import type { OperationName } from '#contract/operations.ts'
import { fault, isServiceFault } from '#contract/errors.ts'
import type { Handled } from '#http/reply.ts'
import { boundsOf, payerOf, type Bounds, type Work } from './admission.ts'
import type { Catalogue, ModelOffer } from './catalogue.ts'
import { createClaims, type Claims } from './claims.ts'
import type { Failures } from './failures.ts'
import type { Learned } from './learned.ts'
import type {
  GenerationCall,
  GenerationEvent,
  Provider,
  Providers,
  Usage,
} from './providers/provider.ts'
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

export type Plan = {
  readonly operation: OperationName
  readonly choice: Choice
  readonly work: Work
  readonly shape: GenerationCall['shape']
  /** The caller wants chunks as they come. */
  readonly streamed: boolean
  readonly body: Readonly<Record<string, unknown>>
}

/** The last is `end`, or the iterator throws. */
export type AnswerEvent = Exclude<GenerationEvent, { kind: 'used' }>

export type Started = {
  readonly offer: ModelOffer
  readonly reason: string
  /** From the first piece of the answer to its end; what was used is claimed already. */
  readonly events: AsyncIterable<readonly AnswerEvent[]>
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
  plan: Plan,
  call: Call,
  answer: (started: Started) => Answer | Promise<Answer>,
): Promise<Answer> {
  const claims = createClaims(call.spend)
  let failure: unknown
  const failed: string[] = []
  for (const offer of plan.choice.offers) {
    let awaitsWhole = false
    let leave: (() => void) | undefined
    if (failure !== undefined && !mayFallBack(failure, call.signal)) break
    try {
      leave = deps.shares.enter(offer.provider, payerOf(call.who).account)
      const bounds = boundsOf(offer, plan.work, deps.learned)
      await admit(call, plan.operation, bounds)
      call.spend.served({ model: offer.id, tier: plan.choice.tier, routedTo: offer.routedTo })
      claims.begin()
      const provider = providerOf(deps, offer)
      call.spend.served({ upstream: provider.energy })
      const asked = askedOf(deps, plan, { offer, bounds, call, provider })
      awaitsWhole = asked.whole === true
      const reads = provider.generate(asked, call.signal)
      const exceeded = (promptExcess: number, isWhole: boolean) =>
        learnOverhead(deps.learned, { offer, bounds, work: plan.work, promptExcess, isWhole })
      const { streamed } = plan
      const steps = paidSteps(reads, call, {
        claims,
        answers: asked.choices,
        streamed,
        exceeded,
        leave,
      })
      const first = await steps.next()
      closeOnAbort(steps, call.signal)
      if (awaitsWhole) deps.whole.stayed(payerOf(call.who).account)
      awaitsWhole = false
      const reason = reasonOf(plan.choice, offer, failed)
      const measured = () => call.spend.measured()
      return await answer({ offer, reason, events: fromFirst(first, steps), measured })
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
  const ceiling = add(spend.estimate().ceilingNj, ceilingNj)
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
  plan: Plan,
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

type Reads = AsyncGenerator<readonly GenerationEvent[], void, void>
type Step = IteratorResult<readonly AnswerEvent[], void>
type Steps = { next(): Promise<Step>; return(): Promise<Step>; readonly isPulled: () => boolean }

type Paying = {
  readonly claims: Claims
  /** How many answers there will be. */
  readonly answers: number
  /** Each step reaches the caller when it is taken; else nothing does before the end. */
  readonly streamed: boolean
  /** So much of the prompt is beyond what was thought possible. */
  exceeded(promptExcess: number, isWhole: boolean): void
  /** Nothing is asked of the provider any more. */
  leave(): void
}

/**
 * Claims every `used` event and stops at once when that used up the hold, unless all that was asked for
 * is there by then; without an `end` the answer is not whole; at its end the call is left. No generator:
 * each takes several turns of the promise queue for every token.
 */
function paidSteps(
  reads: Reads,
  { spend, signal }: Call,
  { claims, answers, streamed, exceeded, leave }: Paying,
): Steps {
  let isWhole = false
  let isGiven = false
  let unfinished = answers
  let promptExcess = 0
  let isPulled = false
  /** A caller who left pays for the step that it began: what that took is the last thing that is read. */
  const end = async () => {
    if (signal.aborted) await claimRest(reads, spend, claims)
    else await reads.return()
    leave()
  }
  return {
    isPulled: () => isPulled,
    async next() {
      isPulled = true
      try {
        for (;;) {
          if (spend.cut.aborted) throw cutError(spend)
          const step = await reads.next()
          if (step.done === true) {
            // However quietly it stopped: closing on abort ends the iterator like any other end.
            if (!isWhole) throw signal.aborted ? signal.reason : stoppedEarly()
            leave()
            return step
          }
          for (const event of step.value) {
            if (event.kind === 'finish') unfinished--
            else if (event.kind === 'used') promptExcess = event.promptExcess ?? 0
          }
          if (promptExcess > 0) exceeded(promptExcess, isEnd(step.value))
          const paid =
            unfinished > 0
              ? claimAll(step.value, spend, claims)
              : await finishAll(step.value, spend, claims)
          if (isEnd(paid)) isWhole = true
          if (paid.length === 0) continue
          isGiven = streamed
          return { done: false, value: paid }
        }
      } catch (error) {
        // The provider only sees an aborted signal; why the work was cut, the Spend knows.
        const reason = spend.cut.aborted ? cutError(spend) : error
        await end()
        if (!isGiven && isOurs(reason, signal)) claims.forgive()
        throw reason
      } finally {
        isPulled = false
      }
    },
    async return() {
      await end()
      return { done: true, value: undefined }
    },
  }
}

const isEnd = (events: readonly GenerationEvent[]): boolean => events.at(-1)?.kind === 'end'

const stoppedEarly = () =>
  fault('upstream_failed', 'Could not finish the answer: the upstream stopped early')

/** The events up to where the hold was used up. */
function claimAll(
  events: readonly GenerationEvent[],
  spend: Spend,
  claims: Claims,
): readonly AnswerEvent[] {
  const paid: AnswerEvent[] = []
  for (const event of events) {
    if (event.kind !== 'used') {
      paid.push(event)
      continue
    }
    claimOne(event, spend, claims)
    if (spend.cut.aborted) break
  }
  return paid
}

function claimOne(
  { used, promptTokens, completionTokens }: Usage,
  spend: Spend,
  claims: Claims,
): void {
  spend.served({ promptTokens, completionTokens })
  claims.claim(used)
}

/** Reads to the end for the figures alone. */
async function claimRest(reads: Reads, spend: Spend, claims: Claims): Promise<void> {
  const rest = async () => {
    for await (const events of reads)
      for (const event of events) if (event.kind === 'used') claimOne(event, spend, claims)
  }
  // It ends with the reason for which the caller left.
  await rest().catch(() => undefined)
}

/** The events of an answer that is all there: it is paid as far as can be, and given. */
async function finishAll(
  events: readonly GenerationEvent[],
  spend: Spend,
  claims: Claims,
): Promise<readonly AnswerEvent[]> {
  for (const event of events) {
    if (event.kind !== 'used') continue
    const { used, promptTokens, completionTokens } = event
    spend.served({ promptTokens, completionTokens })
    await claims.finish(used)
  }
  return events.filter((event) => event.kind !== 'used')
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
  }: { offer: ModelOffer; bounds: Bounds; work: Work; promptExcess: number; isWhole: boolean },
): void {
  if (promptExcess > 0 && (isWhole || offer.isCell === true))
    learned.needsOverhead(offer, bounds.overheadTokens + Math.ceil(promptExcess / work.prompts))
}

/** A caller who goes while nobody pulls leaves nobody to end the iterator. */
function closeOnAbort(steps: Steps, signal: AbortSignal): void {
  const close = () => {
    if (!steps.isPulled()) void steps.return()
  }
  if (signal.aborted) close()
  else signal.addEventListener('abort', close, { once: true })
}

export const cutError = (spend: Spend): unknown => spend.cutReason ?? spend.cut.reason

/** The steps from one that was taken already. */
function fromFirst(first: Step, rest: Steps): Started['events'] {
  let taken: Step | undefined = first
  const next = () => {
    const step = taken
    taken = undefined
    return step === undefined ? rest.next() : Promise.resolve(step)
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: rest.return }) }
}

const FALLS_BACK = new Set([
  'upstream_failed',
  'upstream_timeout',
  'overloaded',
  'too_many_requests',
  'model_loading',
  'model_not_available',
])

/** Whether the answer failed for the service's fault, and not because its caller left or could not pay. */
export const isOurs = (error: unknown, signal: AbortSignal): boolean =>
  isServiceFault(signal.aborted ? signal.reason : error)

const mayFallBack = (error: unknown, signal: AbortSignal): boolean =>
  !signal.aborted && FALLS_BACK.has(codeOf(error))

const codeOf = (error: unknown): string => (error instanceof ErgonError ? error.code : 'internal')

/** What was admitted is also what may be generated: an answer without a limit gets the offer's. */
const bounded = (body: Plan['body'], offer: ModelOffer): Plan['body'] =>
  offer.defaultMaxTokens === undefined ? body : { max_tokens: offer.defaultMaxTokens, ...body }
