// A session: one life of one of our processes, as the ledger knows it. It keeps the records that are
// journaled and not yet posted, and ticks. Past `until` nothing new may be admitted.
import { fault } from '#contract/errors.ts'
import type { TimerClock } from '#base/clock.ts'
import { invariant, InvariantError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import {
  isLeftOut,
  isSessionLost,
  type CredentialChange,
  type Debit,
  type Ledger,
  type TickInput,
  type TickResult,
} from '#ledger/tick.ts'
import type { Journal, Provisional, Recorded } from './journal.ts'
import type { JournalRecord, RecordKind } from './journal-record.ts'
import { LateRequests } from './late-requests.ts'
import type { Leases } from './leases.ts'

const TICK_MS = 100
// Under load ticks are longer: the fixed part of each is shared by more records, which saves 15 % of PostgreSQL's
// CPU at 3,200 records a second. A session of 2 s has room for several of them.
const BUSY_TICK_MS = 250
const BUSY_RECORDS = 25
const HEARTBEAT_MS = 300
// Without a lease nothing is admitted before the ledger has answered anyway, so less must be had in hand
// against a slow one. A tick takes 4 ms of CPU in a process that has rested, here and in PostgreSQL.
const RESTING_MS = 900
// Ledger side: 2 s. Ours counts from before the tick was sent and is 5 % shorter: clocks drift.
const SESSION_MS = 1900
// A charge takes 0.06 ms of the server's CPU in a tick (bench/ledger.ts, busy machine). The tick after a slow one takes
// fewer records, because a session stays fresh only by answers in time: 4,000 records took three seconds with 16
// runnable processes on 2 CPUs.
export const RECORDS_PER_TICK_MAX = 4000
const RECORDS_PER_TICK_FIRST = 1000
const RECORDS_PER_TICK_MIN = 100
const SLOW_TICK_MS = 500
const RETRY_MS_MAX = 2000
// An answer later than this may still count in the ledger, but we ask again: ticks are numbered.
const ANSWER_MS_MAX = 3000
// Records that wait for the ledger: about 400 MB. Beyond it new work is refused, never forgotten.
const PENDING_MAX = 400_000

export type SessionDeps = {
  ledger: Ledger
  journal: Journal
  leases: Leases
  clock: TimerClock
  log: Logger
  meter: string
  opened: { session: string; epoch: bigint }
  /** Called with the revoked credentials, before anything else of that tick counts. */
  forget: (changes: readonly CredentialChange[]) => void
  /** The ledger knows this session as ended, or its journal as another: the process must end. */
  lost: (error: unknown) => void
  /** Called after each tick: what it cost is the operator's. */
  ticked: () => void
}

export class Session {
  readonly id: string
  /** The last answer of the ledger. */
  latest: TickResult | undefined
  readonly #deps: SessionDeps
  readonly #late: LateRequests
  #pending: JournalRecord[] = []
  #seq = 1n
  #tickNumber = 0n
  #epoch: bigint
  // Before the first answer there is no price, and our until is not known.
  #freshUntilMs = Number.NEGATIVE_INFINITY
  #freshUntilWallMs = Number.NEGATIVE_INFINITY
  #cancelTimer = () => {}
  #running: Promise<void> | undefined
  #waiters: (() => void)[] = []
  #failures = 0
  #recordsMax = RECORDS_PER_TICK_FIRST
  #closed = false
  #again = false
  /** Number of records in the last tick. */
  #posted = 0

  /** Starts ticking. */
  constructor(deps: SessionDeps) {
    this.#deps = deps
    this.#late = new LateRequests(deps.clock)
    this.id = deps.opened.session
    this.#epoch = deps.opened.epoch
    this.#schedule(0)
  }

  /** Credentials may be honoured and work admitted. */
  get fresh(): boolean {
    const { clock } = this.#deps
    return (
      !this.#closed &&
      this.#pending.length < PENDING_MAX &&
      clock.monotonicMs() < this.#freshUntilMs &&
      // The monotonic clock stands still while a machine sleeps (clock_gettime(2)), this one does not.
      clock.wallMs() < this.#freshUntilWallMs
    )
  }

  /**
   * For a request that comes while the ledger's answer is late: resolves once the session is fresh, after a second, or at
   * an abort of the signal. The request then looks again. Undefined where there is nothing to wait for.
   */
  untilFresh(signal: AbortSignal): Promise<void> | undefined {
    if (this.#closed || this.fresh) return undefined
    return this.#late.wait(signal)
  }

  /** Nothing is journaled any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** The number that the next record will have: it is part of the record's own bytes. */
  get nextSeq(): bigint {
    return this.#seq
  }

  /** The last credential change that this session has seen. */
  get epoch(): bigint {
    return this.#epoch
  }

  get pending(): number {
    return this.#pending.length
  }

  /** Journals a record under the next number; its debits are of leases that were held. */
  append(kind: RecordKind, bytes: string | Uint8Array, debits: readonly Debit[]): bigint {
    // A closed session's journal is not read again: what came now would be lost.
    invariant(!this.#closed, `the session ${this.id} is closed`)
    const record = this.#deps.journal.append({ seq: this.#seq, kind, bytes, debits })
    this.#seq++
    this.#pending.push(record)
    if (this.#pending.length === 1 && this.#running === undefined) this.#schedule(TICK_MS)
    return record.seq
  }

  /** Journals a provisional charge with its present figures; see Journal.provisional. */
  provisional(id: string, make: Provisional): void {
    this.#deps.journal.provisional(id, make)
  }

  /** The final charge of a receipt is appended. */
  settled(id: string): void {
    this.#deps.journal.settled(id)
  }

  /** Calls back once what was journaled so far may be told. */
  recorded(tell: Recorded): void {
    this.#deps.journal.recorded(tell)
  }

  /** Asks for a tick now; resolves after one that began later than this call. */
  tickNow(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      this.#waiters.push(() => {
        signal.removeEventListener('abort', stop)
        resolve()
      })
      this.poke()
    })
  }

  /** Ticks as soon as it can: somebody says that there is news. */
  poke(): void {
    // A tick under way may have looked before the news was there: another one follows it at once.
    this.#again = true
    if (this.#running === undefined && this.#failures === 0) this.#schedule(0)
  }

  /** Posts everything and ends the session; gives up when the signal aborts: the next life replays. */
  async close(signal: AbortSignal): Promise<void> {
    while (this.#pending.length > 0 && !signal.aborted && !this.#closed) {
      await this.#start()
      if (this.#failures > 0) await this.#pause(TICK_MS)
    }
    const posted = this.#pending.length === 0 && !this.#closed
    this.#closed = true
    this.#cancelTimer()
    await this.#running
    if (posted && this.#deps.journal.unsettled === 0) await this.#deps.ledger.closeSession(this.id)
  }

  /** Ends without a word to the ledger, as a process does that is killed. */
  abandon(): void {
    this.#closed = true
    this.#cancelTimer()
  }

  async #tick(): Promise<void> {
    const { journal, leases, clock, log, meter } = this.#deps
    // Never is a record in the ledger that its journal does not have.
    journal.flush()
    const records = this.#pending.slice(0, this.#recordsMax)
    const waiters = this.#waiters
    this.#waiters = []
    this.#again = false
    const sentMs = clock.monotonicMs()
    const sentWallMs = clock.wallMs()
    const debits = debitsOf(records)
    const wants = leases.wants(totals(debits))
    const number = ++this.#tickNumber
    const session = this.id
    try {
      const input = { session, number, epoch: this.#epoch, meter, records, debits, wants }
      const answer = await this.#ask(input)
      if (this.#closed) return
      this.#take(answer, records.length)
      await this.#bringBack(answer.lastSeq)
      this.#freshUntilMs = sentMs + SESSION_MS
      this.#freshUntilWallMs = sentWallMs + SESSION_MS
      this.#pace(clock.monotonicMs() - sentMs, records.length)
      if (this.fresh) this.#late.letGo()
      for (const waiter of waiters) waiter()
    } catch (error) {
      if (this.#closed) return
      leases.failed()
      this.#waiters.push(...waiters)
      this.#failures++
      this.#pace(SLOW_TICK_MS, records.length)
      const failures = this.#failures
      log.warn('The ledger did not answer a tick', { error: messageOf(error), failures })
      const isMended = isLost(error) && (await this.#isMended(error).catch(() => false))
      if (isLost(error) && !isMended) this.#lose(error)
    }
  }

  /** True when the ledger misses only records of our journal: a standby that took over was a moment behind. */
  async #isMended(error: unknown): Promise<boolean> {
    if (!isLeftOut(error)) return false
    const known = await this.#deps.ledger.findSession(this.id).catch(() => undefined)
    if (known === undefined || !known.open) return false
    // It has forgotten changes of credentials too, and will give their numbers to others.
    if (known.newestChange < this.#epoch) this.#epoch = known.newestChange
    return await this.#bringBack(known.lastSeq)
  }

  /**
   * Puts the records that the ledger has lost in front of the waiting ones; false when the journal lacks some of them.
   */
  async #bringBack(lastSeq: bigint): Promise<boolean> {
    const { journal, ledger, log } = this.#deps
    const next = this.#pending[0]?.seq ?? this.#seq
    if (lastSeq + 1n >= next) return true
    const records = journal.between(lastSeq + 1n, next - 1n)
    if (BigInt(records.length) !== next - lastSeq - 1n) return false
    this.#pending.unshift(...records)
    this.#again = true
    const detail = { session: this.id, had: String(next - 1n), has: String(lastSeq) }
    log.error('The ledger was set back: what it lost is posted again from the journal', detail)
    await ledger.alarm('ledger_set_back', detail).catch(() => undefined)
    return true
  }

  /** Asks the ledger; rejects when the answer takes too long. A later answer is dropped. */
  #ask(input: TickInput): Promise<TickResult> {
    return new Promise((resolve, reject) => {
      const cancel = this.#deps.clock.setTimer(ANSWER_MS_MAX, () =>
        reject(fault('state_unavailable', 'The ledger took too long')),
      )
      void this.#deps.ledger.tick(input).then(resolve, reject).finally(cancel)
    })
  }

  #take(answer: TickResult, posted: number): void {
    const { journal, leases, forget } = this.#deps
    this.latest = answer
    this.#failures = 0
    // A revocation waits until we say that we have acted on it: the next tick says so, at once.
    if (answer.epoch !== this.#epoch) {
      this.#again = true
      forget(answer.changes)
    }
    this.#epoch = answer.epoch
    leases.granted(answer.grants)
    // Somebody waits for it.
    if (leases.recall(answer.recalls)) this.#again = true
    this.#pending = this.#pending.slice(posted)
    this.#posted = posted
    journal.posted(answer.lastSeq)
  }

  /** Only a tick that was full says that more can be taken: one of ten records is quick anywhere. */
  #pace(tookMs: number, count: number): void {
    const isFull = count === this.#recordsMax
    if (tookMs >= SLOW_TICK_MS) this.#recordsMax /= 2
    else if (isFull) this.#recordsMax *= 2
    const least = Math.max(RECORDS_PER_TICK_MIN, Math.floor(this.#recordsMax))
    this.#recordsMax = Math.min(RECORDS_PER_TICK_MAX, least)
  }

  #lose(error: unknown): void {
    this.#closed = true
    this.#deps.lost(error)
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer()
    if (this.#closed) return
    this.#cancelTimer = this.#deps.clock.setTimer(delayMs, () => void this.#start())
  }

  #start(): Promise<void> {
    this.#cancelTimer()
    this.#running ??= this.#tick().finally(() => {
      this.#running = undefined
      this.#deps.ticked()
      this.#schedule(this.#pauseMs())
    })
    return this.#running
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.setTimer(ms, resolve))
  }

  #pauseMs(): number {
    if (this.#failures > 0) return Math.min(RETRY_MS_MAX, TICK_MS * 2 ** this.#failures)
    // Requests wait for a fresh answer. An answer that took too long is not fresh, so the next tick begins at once.
    if (this.#waiters.length > 0 || this.#again || this.#late.size > 0) return 0
    // A whole tick's worth waits already: resting would cost a third of the possible posts.
    if (this.#pending.length >= this.#recordsMax) return 0
    if (this.#pending.length > 0) return this.#posted < BUSY_RECORDS ? TICK_MS : BUSY_TICK_MS
    return this.#deps.leases.size > 0 ? HEARTBEAT_MS : RESTING_MS
  }
}

// The ledger knows better, or our own bookkeeping is broken: neither gets well by asking again.
const isLost = (error: unknown): boolean => error instanceof InvariantError || isSessionLost(error)

export const debitsOf = (records: readonly JournalRecord[]) =>
  records.flatMap((record) => record.debits.map((debit) => ({ seq: record.seq, ...debit })))

function totals(debits: readonly { wallet: string; amount: bigint }[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { wallet, amount } of debits) sums.set(wallet, (sums.get(wallet) ?? 0n) + amount)
  return sums
}
