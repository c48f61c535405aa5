// The deliveries of one endpoint in this process: those that wait here, and how many run. The number that may run at once
// rises with each success and halves with each failure, so an endpoint that hangs soon holds one place.
import type { Delivery, DueEndpoint } from './queue.ts'
import { readTarget, type EndpointTarget } from './target.ts'
import type { AddressRule } from '#egress/addresses.ts'

const AT_ONCE_FIRST = 8
export const AT_ONCE_MAX = 64
/** Failures in a row after which the state lets an endpoint rest: `webhook_failures_before_rest()`. */
export const FAILURES_BEFORE_REST = 10

export class Lane {
  readonly account: string
  readonly id: string
  #atOnce = AT_ONCE_FIRST
  #running = 0
  /** In a row. */
  #failures = 0
  #waiting: Delivery[] = []
  #url = ''
  #target: EndpointTarget | undefined
  #whyNoTarget = ''
  #secrets: readonly string[] = []
  /** True when the last answer of the state had as many deliveries as were asked for. */
  hasMore = false

  constructor({ id, account }: Pick<DueEndpoint, 'id' | 'account'>) {
    this.id = id
    this.account = account
  }

  get secrets(): readonly string[] {
    return this.#secrets
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Undefined where the operator's networks or our rules do not permit the url any more; see `whyNoTarget`. */
  get target(): EndpointTarget | undefined {
    return this.#target
  }

  get whyNoTarget(): string {
    return this.#whyNoTarget
  }

  add(endpoint: DueEndpoint, rule: AddressRule, deliveries: readonly Delivery[]): void {
    this.#secrets = endpoint.secrets
    if (endpoint.url !== this.#url) {
      this.#url = endpoint.url
      try {
        this.#target = readTarget(endpoint.url, rule)
      } catch (error) {
        this.#target = undefined
        this.#whyNoTarget = error instanceof Error ? error.message : ''
      }
    }
    this.#waiting.push(...deliveries)
  }

  /** The state is asked: what it has more is known from its answer. */
  asked(): void {
    this.hasMore = false
  }

  /** The next delivery, which then runs; undefined where none may run now. */
  next(): Delivery | undefined {
    if (this.#running >= this.#atOnce) return undefined
    const delivery = this.#waiting.shift()
    if (delivery !== undefined) this.#running++
    return delivery
  }

  /** True where the attempt before it failed and this one did not. */
  ended(isDelivered: boolean): boolean {
    const isRecovered = isDelivered && this.#failures > 0
    this.#running--
    this.#failures = isDelivered ? 0 : this.#failures + 1
    this.#atOnce = isDelivered
      ? Math.min(AT_ONCE_MAX, this.#atOnce + 1)
      : Math.max(1, this.#atOnce >> 1)
    return isRecovered
  }

  /** True when the endpoint rests after its failures. */
  get isFailing(): boolean {
    return this.#failures >= FAILURES_BEFORE_REST
  }

  /** Takes back what waits here. */
  drop(): readonly Delivery[] {
    const dropped = this.#waiting
    this.#waiting = []
    this.hasMore = true
    return dropped
  }
}
