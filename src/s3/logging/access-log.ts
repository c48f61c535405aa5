// Lines of access logs wait in memory and become objects of their target buckets: a minute after the first
// one, when a batch is full, and at an orderly stop. Delivery is best effort, as at AWS. Lines are lost, and
// counted, when there is no room for them, when their target is gone, read-only or another's, and when it could not be
// written in five rounds; those of a process that is killed are lost uncounted.
import type { TimerClock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { createBatches, type LogBatch, type LogEntry } from './batches.ts'

const INTERVAL_MS = 60_000
const ROUNDS_MAX = 5
const DELIVERY_MS_MAX = 10_000

/**
 * Writes a batch, under the time of its first try; false when its target takes none. Rejects with what
 * may be over the next time.
 */
export type Deliver = (
  batch: LogBatch & { readonly deliveryTimeMs: number },
  signal: AbortSignal,
) => Promise<boolean>

type Parcel = { readonly batch: LogBatch; readonly deliveryTimeMs: number; rounds: number }

export class AccessLog {
  readonly #deps: { deliver: Deliver; clock: TimerClock; log: Logger }
  readonly #batches = createBatches()
  /** What could not be delivered waits here for the next round. */
  #failed: Parcel[] = []
  /** What adds lines as soon as it knows of what. */
  readonly #expected = new Set<Promise<void>>()
  #lost = 0
  #cancelTimer: (() => void) | undefined
  #delivering: Promise<void> | undefined

  constructor(deps: { deliver: Deliver; clock: TimerClock; log: Logger }) {
    this.#deps = deps
  }

  /** How many lines were lost since the start. */
  get lost(): number {
    return this.#lost
  }

  /** Keeps a line until it is delivered, or counts it as lost when there is no room. */
  add(entry: LogEntry): void {
    if (!this.#batches.add(entry)) {
      this.#lost++
      return
    }
    if (this.#batches.hasFull) this.#begin('full')
    this.#schedule()
  }

  /** Lines that will be added when it is known of which bucket: a stop waits for them. */
  expect(lines: Promise<void>): void {
    const added = lines
      .catch((error: unknown) =>
        this.#deps.log.debug('A refusal was not logged', { error: messageOf(error) }),
      )
      .finally(() => this.#expected.delete(added))
    this.#expected.add(added)
  }

  /** Delivers what waits, until the signal aborts; what is left then is lost. */
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

  /** What failed before comes again with all others only: it waits for its next round. */
  #take(which: 'all' | 'full'): Parcel[] {
    const deliveryTimeMs = this.#deps.clock.wallMs()
    const fresh = this.#batches
      .take(which)
      .map((batch): Parcel => ({ batch, deliveryTimeMs, rounds: 0 }))
    return which === 'full' ? fresh : [...this.#failed.splice(0), ...fresh]
  }

  /** One after the other, so that logs take little from those who wait for answers. */
  async #deliver(parcels: Parcel[]): Promise<void> {
    for (const parcel of parcels) {
      if (await this.#isDone(parcel)) this.#batches.letGo(parcel.batch)
      else this.#failed.push(parcel)
    }
  }

  /** Whether it is done with, delivered or lost. */
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
