// The steps of an answer, each given on when what it used is claimed. Where an answer ends before its end, this
// decides what of it is given and who pays.
import { ErgonError } from '#base/errors.ts'
import { isDepleted } from '#charging/faults.ts'
import type { Spend } from '#charging/spend.ts'
import { fault, isServiceFault } from '#contract/errors.ts'
import type { Claims } from './claims.ts'
import type { GenerationEvent, TokenUsage, Usage } from './providers/provider.ts'

/** The last is `end`, or the iterator throws. */
export type AnswerEvent =
  | Exclude<GenerationEvent, { kind: 'used' | 'end' }>
  | {
      readonly kind: 'end'
      readonly usage: TokenUsage
      /** Why the answer ends here and not where its model would have ended it. */
      readonly cutBy?: ErgonError
    }

type Reads = AsyncGenerator<readonly GenerationEvent[], void, void>
export type Step = IteratorResult<readonly AnswerEvent[], void>

type Paying = {
  readonly spend: Spend
  readonly signal: AbortSignal
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

/** No generator: each takes several turns of the promise queue for every token. */
export class PaidSteps {
  readonly #reads: Reads
  readonly #paying: Paying
  readonly #finished = new Set<number>()
  #usage: TokenUsage = { promptTokens: 0, completionTokens: 0 }
  #promptExcess = 0
  #hasText = false
  /** The caller has got some of it. */
  #isGiven = false
  #isEnded = false
  /** Somebody waits for the next step. */
  isPulled = false

  constructor(reads: Reads, paying: Paying) {
    this.#reads = reads
    this.#paying = paying
  }

  async next(): Promise<Step> {
    this.isPulled = true
    try {
      return await this.#next()
    } catch (error) {
      return await this.#failed(error)
    } finally {
      this.isPulled = false
    }
  }

  async return(): Promise<Step> {
    await this.#leave()
    return { done: true, value: undefined }
  }

  /**
   * Claims every `used` event and stops at once when that used up the hold, unless all that was asked for is
   * there by then; without an `end` the answer is not whole; at its end the call is left.
   */
  async #next(): Promise<Step> {
    const { spend, signal, streamed, leave } = this.#paying
    for (;;) {
      if (spend.cut.aborted && !this.#isEnded) throw cutError(spend)
      const step = await this.#reads.next()
      if (step.done === true) {
        // However quietly it stopped: closing on abort ends the iterator like any other end.
        if (!this.#isEnded) throw signal.aborted ? signal.reason : stoppedEarly()
        leave()
        return step
      }
      this.#note(step.value)
      const isWhole = this.#finished.size >= this.#paying.answers
      const paid = await (isWhole ? this.#finishAll(step.value) : this.#claimAll(step.value))
      this.#isEnded = paid.at(-1)?.kind === 'end'
      if (paid.length === 0) continue
      this.#isGiven = streamed
      this.#hasText ||= paid.some((event) => event.kind === 'delta')
      return { done: false, value: paid }
    }
  }

  /** Whoever could not pay for all of an answer gets what was paid; of nothing, nothing is paid. */
  async #failed(error: unknown): Promise<Step> {
    const { spend, signal, streamed, claims } = this.#paying
    // The provider only sees an aborted signal; why the work was cut, the Spend knows.
    const reason = spend.cut.aborted ? cutError(spend) : error
    await this.#leave()
    const why = signal.aborted ? signal.reason : reason
    const isUnpaid = isWant(why)
    if (isUnpaid && !streamed && this.#hasText) return this.#cutShort(why)
    if (!this.#isGiven && (isUnpaid || isServiceFault(why))) claims.absorb()
    throw reason
  }

  #cutShort(cutBy: ErgonError): Step {
    this.#isEnded = true
    const events: AnswerEvent[] = []
    for (let index = 0; index < this.#paying.answers; index++)
      if (!this.#finished.has(index)) events.push({ kind: 'finish', index, reason: 'length' })
    return { done: false, value: [...events, { kind: 'end', usage: this.#usage, cutBy }] }
  }

  /** A caller who left pays for the step that it began: what that took is the last thing that is read. */
  async #leave(): Promise<void> {
    const { signal, leave } = this.#paying
    if (signal.aborted && !isWant(signal.reason)) await this.#claimRest()
    else await this.#reads.return()
    leave()
  }

  #note(events: readonly GenerationEvent[]): void {
    for (const event of events) {
      if (event.kind === 'finish') this.#finished.add(event.index)
      else if (event.kind === 'used') this.#promptExcess = event.promptExcess ?? 0
    }
    if (this.#promptExcess > 0)
      this.#paying.exceeded(this.#promptExcess, events.at(-1)?.kind === 'end')
  }

  /** The events up to where the hold was used up. */
  #claimAll(events: readonly GenerationEvent[]): readonly AnswerEvent[] {
    const { spend } = this.#paying
    const paid: AnswerEvent[] = []
    for (const event of events) {
      if (event.kind !== 'used') {
        paid.push(event)
        continue
      }
      this.#claim(event)
      if (spend.cut.aborted) break
    }
    return paid
  }

  /** The events of an answer that is all there: it is paid as far as can be, and given. */
  async #finishAll(events: readonly GenerationEvent[]): Promise<readonly AnswerEvent[]> {
    for (const event of events) {
      if (event.kind !== 'used') continue
      this.#serve(event)
      await this.#paying.claims.finish(event.used)
    }
    return events.filter((event) => event.kind !== 'used')
  }

  /** Reads to the end for the figures alone. */
  async #claimRest(): Promise<void> {
    const rest = async () => {
      for await (const events of this.#reads)
        for (const event of events) if (event.kind === 'used') this.#claim(event)
    }
    // It ends with the reason for which the caller left; however it ends, nobody waits for more.
    await rest().catch(() => undefined)
  }

  #claim(usage: Usage): void {
    this.#serve(usage)
    this.#paying.claims.claim(usage.used)
  }

  #serve({ promptTokens, completionTokens }: Usage): void {
    this.#usage = { promptTokens, completionTokens }
    this.#paying.spend.served(this.#usage)
  }
}

const stoppedEarly = () =>
  fault('upstream_failed', 'Could not finish the answer: the upstream stopped early')

export const cutError = (spend: Spend): unknown => spend.cutReason ?? spend.cut.reason

/** Whether work was cut because nothing more of it could be paid. */
export const isWant = (error: unknown): error is ErgonError =>
  isDepleted(error) || (error instanceof ErgonError && error.code === 'ceiling_reached')
