// A request at one offer: its share of the provider, its ceiling, its claims, and the payer when it fails. Generations
// and embeddings are both asked so.
import { add } from '#base/units.ts'
import type { Tier } from '#contract/ledger/charge.ts'
import { fault, isServiceFault } from '#contract/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import { isUnpayable } from '#charging/faults.ts'
import type { OperationCall } from '#http/reply.ts'
import { boundsOf, payerOf, type Bounds, type WorkSize } from './admission.ts'
import type { Catalogue, ModelOffer } from './catalogue.ts'
import type { RequestClaims } from './claims.ts'
import type { Failures } from './failures.ts'
import type { Learned } from './learned.ts'
import type { Provider, Providers, Usage } from './providers/provider.ts'
import type { Shares } from './shares.ts'

export type PaidCallDeps = {
  readonly catalogue: Catalogue
  readonly providers: Providers
  readonly learned: Learned
  readonly shares: Shares
  readonly failures: Failures
}

export type PaidRequest = Pick<OperationCall, 'caller' | 'spend' | 'signal'>

export type AskedOffer = {
  readonly operation: OperationName
  readonly offer: ModelOffer
  readonly tier: Tier
  readonly work: WorkSize
  readonly request: PaidRequest
  /** The claims of all calls of the request. */
  readonly claims: RequestClaims
}

export class PaidCall {
  readonly offer: ModelOffer
  readonly request: PaidRequest
  readonly bounds: Bounds
  readonly #deps: PaidCallDeps
  readonly #asked: AskedOffer
  #leave: (() => void) | undefined

  constructor(deps: PaidCallDeps, asked: AskedOffer) {
    this.#deps = deps
    this.#asked = asked
    this.offer = asked.offer
    this.request = asked.request
    this.bounds = boundsOf(asked.offer, asked.work, deps.learned)
  }

  /**
   * Takes a share of the provider, and raises the cap of the request by the ceiling of the call; what the request was
   * admitted with before stays in it. Throws too_many_requests, overloaded, and the faults of Spend.admit.
   */
  admit(): void | Promise<void> {
    const { offer, operation } = this.#asked
    const { spend } = this.request
    this.#leave = this.#deps.shares.enter(offer.provider, this.account)
    const { ceilingNj, leastNj } = this.bounds
    return spend.admit(
      payerOf(this.request.caller),
      operation,
      add(spend.ceilingNj, ceilingNj),
      leastNj,
    )
  }

  /** The provider, which is asked now. Throws model_not_available when it has gone. */
  open(): Provider {
    const { offer, tier, claims } = this.#asked
    const { spend } = this.request
    spend.served({ model: offer.id, tier, routedTo: offer.routedTo })
    claims.begin()
    const provider = this.#deps.providers.get(offer.provider)
    if (provider === undefined)
      throw fault('model_not_available', `Could not serve ${offer.id}: its provider has gone`)
    spend.served({ upstream: provider.energy })
    return provider
  }

  get account(): string {
    return payerOf(this.request.caller).account
  }

  /** The figures of the call so far; cut when they use up the hold. */
  claim({ used }: Usage): void {
    this.#asked.claims.claim(used)
  }

  /** The figures of an answer that is all there: it is given, whatever of it can still be paid. */
  finish({ used }: Usage): void | Promise<void> {
    return this.#asked.claims.finish(used)
  }

  /**
   * A prompt of more tokens than can be is one to which its server adds something. An upstream is believed
   * when the answer is whole; a cell of ours at once, as it may be cut for just that.
   */
  exceeded(promptExcess: number, isWhole: boolean, { prompts }: WorkSize = this.#asked.work): void {
    const { offer, bounds } = this
    if (promptExcess > 0 && (isWhole || offer.isCell === true))
      this.#deps.learned.needsOverhead(
        offer,
        bounds.overheadTokens + Math.ceil(promptExcess / prompts),
      )
  }

  /**
   * Why the answer failed, once nothing more of it comes. Nobody pays for an answer of which the caller got nothing,
   * where that is the service's doing or the caller could not pay for it.
   */
  reasonOf(error: unknown, isGiven: boolean): unknown {
    const { spend, signal } = this.request
    // The provider only sees an aborted signal; why the work was cut, the Spend knows.
    const reason = spend.cutReason ?? error
    const why = signal.aborted ? signal.reason : reason
    if (!isGiven && (isUnpayable(why) || isServiceFault(why))) this.#asked.claims.absorb()
    return reason
  }

  /** The call has failed: another offer may be asked. A caller who left says nothing of this one. */
  failed(error: unknown): void {
    this.leave()
    if (!this.request.signal.aborted) this.#deps.failures.tell(this.offer, error)
  }

  /** Nothing is asked of the provider any more. */
  leave(): void {
    this.#leave?.()
  }
}
