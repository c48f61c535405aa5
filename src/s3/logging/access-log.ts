// Lines of access logs wait in memory and become objects of their target buckets: a minute after the first line, when
// a batch is full, and at an orderly stop. Delivery is best effort, as at AWS. Lines are lost, and counted, without
// memory, when the target is missing, read-only or another account's, and after five failed rounds. Lines of a killed
// process are lost without being counted.
import type { TimerClock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { createBatches, type LogBatch, type LogEntry } from './batches.ts'

const INTERVAL_MS = 60_000
const ROUNDS_MAX = 5
const DELIVERY_MS_MAX = 10_000

/**
 * Writes a batch, with the key of its first try; false when its target does not accept it. Rejects on errors that may
 * pass.
 */
export type Deliver = (
  batch: LogBatch & { readonly deliveryTimeMs: number },
  signal: AbortSignal,
) => Promise<boolean>

type Parcel = { readonly batch: LogBatch; readonly deliveryTimeMs: number; rounds: number }

export class AccessLog {
  readonly #deps: { deliver: Deliver; clock: TimerClock; log: Logger }
  readonly #batches = createBatches()
  /** Undelivered batches wait for the next round. */
  #failed: Parcel[] = []
  /** Writers that will add lines once their bucket is known. */
  readonly #expected = new Set<Promise<void>>()
  #lost = 0
  #cancelTimer: (() => void) | undefined
  #delivering: Promise<void> | undefined

  constructor(deps: { deliver: Deliver; clock: TimerClock; log: Logger }) {
    this.#deps = deps
  }

  /** The number of lost lines since the start. */
  get lost(): number {
    return this.#lost
  }

  /** Adds a line, or counts it as lost without room. */
  add(entry: LogEntry): void {
    if (!this.#batches.add(entry)) {
      this.#lost++
      return
    }
    if (this.#batches.hasFull) this.#begin('full')
    this.#schedule()
  }

  /** Registers lines whose bucket is not known yet: a stop waits for them. */
  expect(lines: Promise<void>): void {
    const added = lines
      .catch((error: unknown) =>
        this.#deps.log.debug('A refusal was not logged', { error: messageOf(error) }),
      )
      .finally(() => this.#expected.delete(added))
    this.#expected.add(added)
  }

  /** Delivers waiting lines until the signal aborts; the lines that are left then are lost. */
  async close(signal: AbortSignal): Promise<void> {
    this.#cancelTimer?.()
    const late = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    const last = async () => {
      await Promise.all(this.#expected)
      await this.#delivering
      await this.#deliver(this.#take('all'))
    }
    await Promise.race([last(), late])
    for (const { batch } of this.#failed) this.#lose(batch, 'the process ends')
  }

  #schedule(): void {
    this.#cancelTimer ??= this.#deps.clock.setTimer(INTERVAL_MS, () => {
      this.#cancelTimer = undefined
      this.#begin('all')
      this.#schedule()
    })
  }

  #begin(which: 'all' | 'full'): void {
    this.#delivering ??= this.#deliver(this.#take(which)).finally(
      () => (this.#delivering = undefined),
    )
  }

  /** Failed batches are retried with the next full round only. */
  #take(which: 'all' | 'full'): Parcel[] {
    const deliveryTimeMs = this.#deps.clock.wallMs()
    const fresh = this.#batches
      .take(which)
      .map((batch): Parcel => ({ batch, deliveryTimeMs, rounds: 0 }))
    return which === 'full' ? fresh : [...this.#failed.splice(0), ...fresh]
  }

  /** One batch at a time, so that logs take little from requests. */
  async #deliver(parcels: Parcel[]): Promise<void> {
    for (const parcel of parcels) {
      if (await this.#isDone(parcel)) this.#batches.letGo(parcel.batch)
      else this.#failed.push(parcel)
    }
  }

  /** True when the batch is finished: delivered or lost. */
  async #isDone(parcel: Parcel): Promise<boolean> {
    const { batch, deliveryTimeMs } = parcel
    parcel.rounds++
    try {
      const signal = AbortSignal.timeout(DELIVERY_MS_MAX)
      if (!(await this.#deps.deliver({ ...batch, deliveryTimeMs }, signal)))
        this.#lose(batch, 'the target bucket takes no logs')
      return true
    } catch (error) {
      if (parcel.rounds < ROUNDS_MAX) return false
      this.#lose(batch, messageOf(error))
      return true
    }
  }

  #lose({ bucket, lines }: LogBatch, why: string): void {
    this.#lost += lines.length
    const facts = { bucket: bucket.name, lines: lines.length, why }
    this.#deps.log.warn('Lines of an access log are lost', facts)
  }
}
