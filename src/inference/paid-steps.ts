// The steps of an answer, each given on when what it used is claimed. Where an answer ends early, this decides which
// part the caller gets and who pays.
import type { ErgonError } from '#base/errors.ts'
import { chain, Steps } from '#base/steps.ts'
import { isUnpayable } from '#charging/faults.ts'
import { fault } from '#contract/errors.ts'
import type { PaidCall } from './paid-call.ts'
import type { GenerationEvent, TokenUsage, Usage } from './providers/provider.ts'

/** The last is `end`, or a step throws. */
export type AnswerEvent =
  | Exclude<GenerationEvent, { kind: 'used' | 'end' }>
  | {
      readonly kind: 'end'
      readonly usage: TokenUsage
      /** Why the answer ends here and not where its model would have ended it. */
      readonly cutBy?: ErgonError
    }

type AnswerForm = {
  /** Number of answers of the call. */
  readonly answers: number
  /** Each step reaches the caller when it is taken; else nothing does before the end. */
  readonly streamed: boolean
}

type AnswerEvents = readonly AnswerEvent[]
const LEFT = Promise.resolve()

export class PaidSteps extends Steps<AnswerEvents> {
  readonly #reads: Steps<readonly GenerationEvent[]>
  readonly #call: PaidCall
  readonly #form: AnswerForm
  readonly #finished = new Set<number>()
  #usage: TokenUsage = { promptTokens: 0, completionTokens: 0 }
  #promptExcess = 0
  #first: { readonly step: AnswerEvents | undefined } | undefined
  #hasText = false
  /** The caller has got some of it. */
  #isGiven = false
  #isEnded = false
  #leaving: Promise<void> | undefined
  /** Somebody waits for the next step. */
  isPulled = false

  constructor(reads: Steps<readonly GenerationEvent[]>, call: PaidCall, form: AnswerForm) {
    super()
    this.#reads = reads
    this.#call = call
    this.#form = form
  }

  /** Waits for the first step, which next() then gives: what fails until it is there has a status. */
  begin(): void | Promise<void> {
    return chain(this.next(), (step) => void (this.#first = { step }))
  }

  next(): AnswerEvents | undefined | Promise<AnswerEvents | undefined> {
    if (this.#first !== undefined) {
      const { step } = this.#first
      this.#first = undefined
      return step
    }
    let step: ReturnType<PaidSteps['next']>
    try {
      step = this.#next()
    } catch (error) {
      step = Promise.reject(error)
    }
    if (!(step instanceof Promise)) return step
    this.isPulled = true
    const pulled = (events: AnswerEvents | undefined) => {
      this.isPulled = false
      return events
    }
    const failed = (error: unknown) => this.#failed(error).finally(() => (this.isPulled = false))
    return step.then(pulled, failed)
  }

  dispose(): Promise<void> {
    return (this.#leaving ??= this.#leave())
  }

  /**
   * Claims every `used` event. Stops at once when a claim exhausts the hold, unless the answer is whole by then. An
   * answer without an `end` is not whole. At its end the call is closed.
   */
  #next(): ReturnType<PaidSteps['next']> {
    const { cutReason } = this.#call.request.spend
    if (cutReason !== undefined && !this.#isEnded) throw cutReason
    return chain(this.#reads.next(), (events) => this.#took(events))
  }

  #took(events: readonly GenerationEvent[] | undefined): ReturnType<PaidSteps['next']> {
    const { answers, streamed } = this.#form
    if (events === undefined) {
      const { signal } = this.#call.request
      // However quietly it stopped: closing on abort ends the steps like any other end.
      if (!this.#isEnded) throw signal.aborted ? signal.reason : stoppedEarly()
      this.#leaving = LEFT
      this.#call.leave()
      return undefined
    }
    this.#note(events)
    const isWhole = this.#finished.size >= answers
    return chain(isWhole ? this.#finishAll(events) : this.#claimAll(events), (paid) => {
      this.#isEnded = paid.at(-1)?.kind === 'end'
      if (paid.length === 0) return this.#next()
      this.#isGiven = streamed
      this.#hasText ||= paid.some((event) => event.kind === 'delta')
      return paid
    })
  }

  /** A caller who could pay for a part of an answer gets that part; without a part nothing is charged. */
  async #failed(error: unknown): Promise<AnswerEvents> {
    const { spend, signal } = this.#call.request
    const { cutReason } = spend
    await this.dispose()
    const why = signal.aborted ? signal.reason : (cutReason ?? error)
    if (isUnpayable(why) && !this.#form.streamed && this.#hasText) return this.#cutShort(why)
    throw this.#call.reasonOf(cutReason ?? error, this.#isGiven)
  }

  #cutShort(cutBy: ErgonError): AnswerEvents {
    this.#isEnded = true
    const events: AnswerEvent[] = []
    for (let index = 0; index < this.#form.answers; index++)
      if (!this.#finished.has(index)) events.push({ kind: 'finish', index, reason: 'length' })
    return [...events, { kind: 'end', usage: this.#usage, cutBy }]
  }

  /** A caller who left pays for the step that it began: what that took is the last thing that is read. */
  async #leave(): Promise<void> {
    const { signal } = this.#call.request
    if (signal.aborted && !isUnpayable(signal.reason)) await this.#claimRest()
    else await this.#reads.dispose()
    this.#call.leave()
  }

  #note(events: readonly GenerationEvent[]): void {
    for (const event of events) {
      if (event.kind === 'finish') this.#finished.add(event.index)
      else if (event.kind === 'used') this.#promptExcess = event.promptExcess ?? 0
    }
    if (this.#promptExcess > 0)
      this.#call.exceeded(this.#promptExcess, events.at(-1)?.kind === 'end')
  }

  /** The events up to where the hold was used up. */
  #claimAll(events: readonly GenerationEvent[]): readonly AnswerEvent[] {
    const { spend } = this.#call.request
    const paid: AnswerEvent[] = []
    for (const event of events) {
      if (event.kind !== 'used') {
        paid.push(event)
        continue
      }
      this.#claim(event)
      if (spend.cutReason !== undefined) break
    }
    return paid
  }

  /** The events of an answer that is all there: it is paid as far as can be, and given. */
  #finishAll(events: readonly GenerationEvent[]): AnswerEvents | Promise<AnswerEvents> {
    const given = events.filter((event) => event.kind !== 'used')
    const used = events.filter((event) => event.kind === 'used')
    // Each waits for the ledger in its turn, where the lease is not warm.
    const finish = (at: number): AnswerEvents | Promise<AnswerEvents> => {
      const usage = used[at]
      if (usage === undefined) return given
      this.#serve(usage)
      return chain(this.#call.finish(usage), () => finish(at + 1))
    }
    return finish(0)
  }

  /** Reads the rest of the answer only for its energy and tokens. */
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
    this.#call.claim(usage)
  }

  #serve({ promptTokens, completionTokens }: Usage): void {
    this.#usage = { promptTokens, completionTokens }
    this.#call.request.spend.served(this.#usage)
  }
}

const stoppedEarly = () =>
  fault('upstream_failed', 'Could not finish the answer: the upstream stopped early')
