// Sends due deliveries. One process of a node does so, by the lock of its journal, so deliveries need no lease: after a kill,
// everything that is not settled is due again. The state is asked and told in turns, never both at once. So a settled
// delivery cannot come back from an older answer.
import type { TimerClock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { WorkBill, WorkBills } from '#charging/work-bills.ts'
import { signedHeaders } from '#contract/webhooks/webhook-signature.ts'
import type { AddressRule } from '#egress/addresses.ts'
import { Lane } from './lane.ts'
import type { Attempted, Delivery, DueEndpoint, Queue } from './queue.ts'
import { delayAfter } from './schedule.ts'
import type { Outcome, DeliverySender } from './send.ts'

export type DispatcherDeps = {
  readonly queue: Queue
  readonly sender: DeliverySender
  readonly rule: AddressRule
  readonly bills: WorkBills
  readonly clock: TimerClock
  readonly log: Logger
  /** A random number from 0 to 1. */
  readonly random: () => number
}

export interface Dispatcher {
  /** Works until the signal aborts; then gives attempts under way some time. Never rejects. */
  run(signal: AbortSignal): Promise<void>
  /** An endpoint has new deliveries. */
  wake(endpoint: string): void
  /** An endpoint changed: what waits here is asked for again. */
  changed(endpoint: string): void
}

/** Of an endpoint that are asked for at once; asked again when fewer than LOW wait. */
const EACH = 256
const LOW = 64
/** Deliveries in memory; the state is asked while there is room for as many as an endpoint may give. */
export const KNOWN_MAX = 20_000
export const ACCOUNT_AT_ONCE = 64
const UNPAID_AT_ONCE = 1
const AT_ONCE_MAX = 2048
/**
 * An account may have this part of the free places, and one in any case: accounts whose endpoints hang leave places for
 * others (dynamic thresholds, Choudhury and Hahne 1998). With ACCOUNT_AT_ONCE alone 32 such accounts had all places for
 * 15 s at a time; now it takes more than 150.
 */
const FREE_PART = ACCOUNT_AT_ONCE / AT_ONCE_MAX
/** Results are settled together. */
const GATHER_MS = 10
const BATCH_MAX = 1000
/** A missed notification, or a state that is away, waits for this. */
const REST_MS_MAX = 10_000
const AGAIN_MS = 1000
const STOP_MS = 3000
const LANES_MAX = 5000
/** Disables its endpoint (sql/deliveries.sql). */
const GONE = 410

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  return new Dispatch(deps)
}

class Dispatch implements Dispatcher {
  readonly #deps: DispatcherDeps
  readonly #lanes = new Map<string, Lane>()
  /** Deliveries that wait here, run, or are not settled, and their endpoints. */
  readonly #known = new Map<string, string>()
  readonly #accounts = new Map<string, { running: number; isPaid: boolean }>()
  /** Endpoints to ask for. */
  readonly #wanted = new Set<string>()
  /** Endpoints that changed while the state was asked: the answer may be from before. */
  readonly #changed = new Set<string>()
  /** Endpoints that rest, or are gone, by a result that is not settled. */
  readonly #resting = new Set<string>()
  /** When all endpoints are asked for, in monotonic time. */
  #askAllMs = 0
  #results: Attempted[] = []
  #running = 0
  #isStopped = false
  #wakeUp: () => void = () => undefined

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
  }

  wake(endpoint: string): void {
    this.#wanted.add(endpoint)
    this.#wakeUp()
  }

  changed(endpoint: string): void {
    for (const { id } of this.#lanes.get(endpoint)?.drop() ?? []) this.#known.delete(id)
    this.#changed.add(endpoint)
    this.wake(endpoint)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    signal.addEventListener('abort', () => this.#wakeUp(), { once: true })
    while (!signal.aborted)
      try {
        await this.#settle()
        await this.#ask()
        for (const lane of this.#lanes.values()) this.#pump(lane)
        await this.#rest(signal)
      } catch (error) {
        log.warn('Webhooks wait for the state', { error: messageOf(error) })
        this.#askAllMs = 0
        await sleepOn(clock, AGAIN_MS)
      }
    await this.#stop()
  }

  /** Asks for all endpoints when something may be due, else for those with news and those that could send more. */
  async #ask(): Promise<void> {
    const { queue, clock } = this.#deps
    if (this.#isFull) return
    this.#changed.clear()
    if (clock.monotonicMs() >= this.#askAllMs) {
      this.#wanted.clear()
      this.#forgetIdle()
      for (const lane of this.#lanes.values()) lane.asked()
      await this.#fetch(undefined)
      const nextMs = (await queue.nextMs()) ?? REST_MS_MAX
      // Deliveries that are due already are under way here, or wait for a place.
      this.#askAllMs =
        clock.monotonicMs() + (nextMs <= 0 ? AGAIN_MS : Math.min(REST_MS_MAX, nextMs))
      return
    }
    for (const lane of this.#lanes.values())
      if (lane.hasMore && lane.waiting < LOW) this.#wanted.add(lane.id)
    const asked = [...this.#wanted]
    this.#wanted.clear()
    for (const id of asked) this.#lanes.get(id)?.asked()
    if (asked.length > 0) await this.#fetch(asked)
  }

  get #isFull(): boolean {
    return this.#known.size > KNOWN_MAX - EACH
  }

  async #fetch(endpoints: readonly string[] | undefined): Promise<void> {
    const { queue, clock } = this.#deps
    const most = KNOWN_MAX - this.#known.size
    const asked = endpoints && new Set(endpoints)
    const known = [...this.#known].flatMap(([id, endpoint]) =>
      asked?.has(endpoint) === false ? [] : [id],
    )
    const found = await queue.due({ endpoints, each: EACH, most, known })
    this.#take(found)
    const count = found.reduce((sum, { deliveries }) => sum + deliveries.length, 0)
    // Others had no room.
    if (count >= most) this.#askAllMs = Math.min(this.#askAllMs, clock.monotonicMs() + AGAIN_MS)
  }

  #take(endpoints: readonly DueEndpoint[]): void {
    for (const endpoint of endpoints) {
      if (this.#changed.has(endpoint.id) || this.#resting.has(endpoint.id)) continue
      const lane = this.#lanes.get(endpoint.id) ?? new Lane(endpoint)
      this.#lanes.set(endpoint.id, lane)
      const fresh = endpoint.deliveries.filter(({ id }) => !this.#known.has(id))
      for (const { id } of fresh) this.#known.set(id, endpoint.id)
      lane.hasMore = endpoint.deliveries.length === EACH
      lane.add(endpoint, this.#deps.rule, fresh)
    }
  }

  #pump(lane: Lane): void {
    const account = this.#accounts.get(lane.account) ?? { running: 0, isPaid: true }
    this.#accounts.set(lane.account, account)
    while (account.running < this.#mostOf(account.isPaid) && this.#running < AT_ONCE_MAX) {
      const delivery = lane.next()
      if (delivery === undefined) break
      account.running++
      this.#running++
      void this.#deliver(lane, delivery)
        .catch((error: unknown) => {
          this.#deps.log.error('A delivery could not be attempted', { id: delivery.id, error })
          return refused('the service could not send it')
        })
        .then((outcome) => {
          account.running--
          this.#running--
          this.#ended(lane, delivery, outcome)
        })
    }
    if (account.running === 0 && account.isPaid) this.#accounts.delete(lane.account)
  }

  #mostOf(isPaid: boolean): number {
    const share = Math.max(1, Math.floor((AT_ONCE_MAX - this.#running) * FREE_PART))
    return Math.min(isPaid ? ACCOUNT_AT_ONCE : UNPAID_AT_ONCE, share)
  }

  async #deliver(lane: Lane, delivery: Delivery): Promise<Outcome> {
    const { bills, sender, clock } = this.#deps
    const { target } = lane
    if (target === undefined) return refused(lane.whyNoTarget)
    if (lane.secrets.length === 0) return refused('its secret cannot be read: rotate it')
    const taken = bills.take({ account: lane.account, resource: `webhooks:${lane.account}` })
    // An account that cannot pay gets its events all the same: the one that says that the balance is empty must arrive.
    const bill: WorkBill = taken instanceof Promise ? await taken : taken
    const account = this.#accounts.get(lane.account)
    if (account !== undefined) account.isPaid = bill.isPaid
    const { event: id, type, body } = delivery
    // The time of this attempt: receivers refuse what is older than 300 s.
    const timestamp = Math.floor(clock.wallMs() / 1000)
    try {
      const headers = signedHeaders({ id, type, timestamp, body, secrets: lane.secrets })
      return await sender.send({ target, headers, body, mark: () => bill.mark() })
    } finally {
      bill.release()
    }
  }

  #ended(lane: Lane, { id, attempts }: Delivery, outcome: Outcome): void {
    if (this.#isStopped) return
    // An endpoint that fails gets one at a time; once it answers, the others are asked for.
    const isRecovered = lane.ended(outcome.isDelivered)
    const delayMs = delayAfter(attempts + 1, this.#deps.random)
    this.#results.push({ id, endpoint: lane.id, attempts, outcome, delayMs, isRecovered })
    if (outcome.restMs !== null || outcome.status === GONE || lane.isFailing) {
      this.#resting.add(lane.id)
      this.changed(lane.id)
    }
    this.#pump(lane)
    this.#wakeUp()
  }

  async #settle(): Promise<void> {
    const { queue, clock } = this.#deps
    while (this.#results.length > 0) {
      const batch = this.#results.slice(0, BATCH_MAX)
      await queue.settle(batch)
      this.#results = this.#results.slice(batch.length)
      if (this.#results.length === 0) this.#resting.clear()
      for (const { id, endpoint, outcome, delayMs, isRecovered } of batch) {
        this.#known.delete(id)
        if (isRecovered) this.#wanted.add(endpoint)
        if (!outcome.isDelivered && delayMs !== null)
          this.#askAllMs = Math.min(this.#askAllMs, clock.monotonicMs() + delayMs)
      }
    }
  }

  #forgetIdle(): void {
    if (this.#lanes.size <= LANES_MAX) return
    for (const [id, lane] of this.#lanes)
      if (lane.running === 0 && lane.waiting === 0) this.#lanes.delete(id)
  }

  /** Until something happens or is due, but not shorter than it takes to gather some results. */
  async #rest(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const isBusy = this.#results.length > 0 || (this.#wanted.size > 0 && !this.#isFull)
    const dueMs = this.#askAllMs - clock.monotonicMs()
    const restMs = (this.#isFull ? AGAIN_MS : dueMs) - GATHER_MS
    if (restMs > 0 && !isBusy && !signal.aborted)
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimer(restMs, resolve)
        this.#wakeUp = () => {
          cancel()
          resolve()
        }
      })
    this.#wakeUp = () => undefined
    await sleepOn(clock, GATHER_MS)
  }

  async #stop(): Promise<void> {
    const { clock, sender, log } = this.#deps
    const lastMs = clock.monotonicMs() + STOP_MS
    while (this.#running > 0 && clock.monotonicMs() < lastMs) await sleepOn(clock, GATHER_MS)
    this.#isStopped = true
    sender.close()
    await this.#settle().catch((error: unknown) =>
      log.warn('Some deliveries will be sent again', { error: messageOf(error) }),
    )
  }
}

const sleepOn = (clock: TimerClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(ms, resolve))

const refused = (error: string): Outcome => ({
  isDelivered: false,
  status: null,
  error,
  tookMs: 0,
  answer: null,
  restMs: null,
})
