// The reader of a gateway: it reads all accounts that have live streams in the same statements, once a second, and less often
// while nothing changes (quiet.ts).
import type { TimerClock } from '#base/clock.ts'
import { messageOf, type ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Charging } from '#charging/charging.ts'
import { fault } from '#contract/errors.ts'
import { LIVE_STREAMS_MAX, LIVE_STREAMS_OF_ALL_MAX } from '#contract/live/live.ts'
import type { Marks } from '#metering/marks.ts'
import { createPowerMeter } from './power.ts'
import { createQuiet } from './quiet.ts'
import { readAll, type AccountReading } from './read-all.ts'
import type { LiveCounts, ReadAccounts } from './read-accounts.ts'
import { Subscription } from './subscription.ts'

const READ_MS = 1000
/** Between two readings, however long the first took. */
const REST_MS_MIN = 200
/** Readings that may fail before the streams end. */
const FAILURES_MAX = 3
const RETRY_AFTER_S = 5

export interface Watcher {
  /** `mark` charges CPU of the reader, in turn, to the stream. Throws too_many_requests, overloaded, draining. */
  subscribe(account: string, mark: () => void): Pick<Subscription, 'next' | 'end'>
  /** Ends all streams: the process is stopping. */
  stop(): void
}

type Deps = {
  readonly charging: Pick<Charging, 'spends'>
  readonly requestsOf: (account: string) => number
  readonly marks: Pick<Marks, 'mark' | 'operator'>
  readonly clock: TimerClock
  readonly log: Logger
  /** Called at the first stream. */
  readonly read: () => ReadAccounts
}

export const createWatcher = (deps: Deps): Watcher => {
  const watcher = new OwnWatcher(deps)
  return {
    subscribe: (account, mark) => watcher.subscribe(account, mark),
    stop: () => watcher.stop(),
  }
}

class OwnWatcher {
  readonly #deps: Deps
  readonly #subscriptions = new Set<Subscription>()
  readonly #power
  readonly #quiet
  #read: ReadAccounts | undefined
  #known: AccountReading = new Map()
  #isReading = false
  #endedMs = -Infinity
  #cancelTimer = () => {}
  #failures = 0
  #turns = 0
  #payer: Subscription | undefined
  #isStopped = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#power = createPowerMeter(deps.charging)
    this.#quiet = createQuiet(deps)
  }

  subscribe(account: string, mark: () => void): Subscription {
    if (this.#isStopped) throw draining()
    const own = [...this.#subscriptions].filter((one) => one.account === account)
    if (own.length >= LIVE_STREAMS_MAX)
      throw full('too_many_requests', `an account may have ${LIVE_STREAMS_MAX} at once`)
    if (this.#subscriptions.size >= LIVE_STREAMS_OF_ALL_MAX)
      throw full('overloaded', `this gateway has ${LIVE_STREAMS_OF_ALL_MAX} of all accounts`)
    const leave = () => this.#subscriptions.delete(subscription)
    const subscription = new Subscription(account, { mark, leave })
    this.#subscriptions.add(subscription)
    const known = this.#known.get(account)
    if (known !== undefined) subscription.give(known)
    else if (!this.#isReading) this.#schedule(this.#restMs())
    return subscription
  }

  stop(): void {
    this.#isStopped = true
    this.#fail(draining())
  }

  /** The time until the next reading may begin: streams that come and go do not make it shorter. */
  #restMs(): number {
    return Math.max(0, REST_MS_MIN - (this.#deps.clock.monotonicMs() - this.#endedMs))
  }

  #schedule(ms: number): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#deps.clock.setTimer(ms, () => void this.#turn())
  }

  async #turn(): Promise<void> {
    const { clock, log, marks } = this.#deps
    // Earlier CPU of this process is no stream's: without this mark, each reading paid for up to a second of it.
    marks.mark(marks.operator)
    const begunMs = clock.monotonicMs()
    this.#isReading = true
    if (await this.#canRest(begunMs)) {
      this.#isReading = false
      return this.#schedule(READ_MS)
    }
    try {
      await this.#readOnce()
      this.#failures = 0
    } catch (error) {
      log.warn('The accounts with live streams could not be read', { error: messageOf(error) })
      if (++this.#failures >= FAILURES_MAX)
        this.#fail(fault('state_unavailable', 'Could not go on: the state did not answer'))
    }
    this.#isReading = false
    this.#endedMs = clock.monotonicMs()
    if (this.#subscriptions.size === 0) return void (this.#known = new Map())
    this.#schedule(Math.max(REST_MS_MIN, READ_MS - (clock.monotonicMs() - begunMs)))
  }

  /** True while nothing is new: the counters of the accounts have the work of other processes. */
  async #canRest(nowMs: number): Promise<boolean> {
    if (this.#subscriptions.size === 0 || !this.#quiet.rests(this.#accounts(), nowMs)) return false
    if (!this.#quiet.checks(nowMs)) return true
    try {
      this.#payer = [...this.#subscriptions][this.#turns++ % this.#subscriptions.size]
      const counts = (await this.#read?.counts([...this.#accounts()])) ?? []
      const isKnown = ({ account, charges, events }: LiveCounts) => {
        const known = this.#known.get(account)
        return known?.charges === charges && known.events === events
      }
      // One may have come meanwhile.
      return counts.every(isKnown) && [...this.#accounts()].every((one) => this.#known.has(one))
    } catch {
      // The reading has the fault.
      return false
    }
  }

  #accounts(): ReadonlySet<string> {
    return new Set([...this.#subscriptions].map(({ account }) => account))
  }

  #fail(error: ErgonError): void {
    for (const subscription of this.#subscriptions) subscription.fail(error)
  }

  async #readOnce(): Promise<void> {
    const subscriptions = [...this.#subscriptions]
    // Each pays in turn for the reading of all, and is the first to get it.
    const first = this.#turns++ % Math.max(1, subscriptions.length)
    const inTurn = [...subscriptions.slice(first), ...subscriptions.slice(0, first)]
    const accounts = this.#accounts()
    this.#read ??= paidBy(this.#deps.read(), () => this.#payer?.mark())
    this.#payer = inTurn[0]
    const { clock } = this.#deps
    const times = { nowMs: clock.wallMs(), monotonicMs: clock.monotonicMs() }
    const parts = { read: this.#read, power: this.#power }
    const before = this.#known
    const read = this.#quiet.begin(accounts, times.monotonicMs)
    this.#known = await readAll(parts, before, { accounts, ...times })
    read(before, this.#known)
    for (const subscription of inTurn) subscription.give(this.#known.get(subscription.account))
  }
}

/** CPU until each query waits is charged. */
function paidBy(read: ReadAccounts, mark: () => void): ReadAccounts {
  const paid = <T>(answer: Promise<T>): Promise<T> => {
    mark()
    return answer
  }
  return {
    counts: (accounts) => paid(read.counts(accounts)),
    now: (accounts) => paid(read.now(accounts)),
    newCharges: (spans, reported) => paid(read.newCharges(spans, reported)),
    newest: (accounts) => paid(read.newest(accounts)),
    day: (account, day) => paid(read.day(account, day)),
  }
}

const full = (code: 'too_many_requests' | 'overloaded', why: string) =>
  fault(code, `Could not open the stream: ${why}`, { retryAfterS: RETRY_AFTER_S })

const draining = () =>
  fault('draining', 'Could not go on: the stream ends, as this process is stopping')
