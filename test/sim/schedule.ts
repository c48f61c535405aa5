// Virtual time: events in order of time, one at a time, each with all the promises it settles. Chance
// comes from one seeded generator, so a run is a function of its seed.
import type { TimerClock } from '#base/clock.ts'

type Event = { atMs: number; order: number; fire: () => void; cancelled: boolean }

export class Schedule {
  nowMs = 0
  readonly startWallMs: number
  readonly #events: Event[] = []
  #order = 0
  #state: number

  constructor(seed: number, startWallMs: number) {
    this.#state = Math.imul(seed + 1, 0x9e37_79b1) | 1
    this.startWallMs = startWallMs
  }

  /** A number in [0, 1); xorshift32. */
  chance(): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x
    return (x >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.chance() * (most - least + 1))
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.between(0, items.length - 1)] ?? items[0]
  }

  after(ms: number, fire: () => void): () => void {
    const event = {
      atMs: this.nowMs + Math.max(0, ms),
      order: this.#order++,
      fire,
      cancelled: false,
    }
    this.#events.push(event)
    this.#up(this.#events.length - 1)
    return () => {
      event.cancelled = true
    }
  }

  get wallMs(): number {
    return this.startWallMs + Math.floor(this.nowMs)
  }

  /** Fires events until a time, or until `done`; settles promises after each. */
  async run(untilMs: number, done: () => boolean = () => false): Promise<void> {
    while (!done()) {
      const event = this.#events[0]
      if (event === undefined || event.atMs > untilMs) break
      this.#pop()
      if (event.cancelled) continue
      this.nowMs = event.atMs
      event.fire()
      // An immediate runs when every promise that can settle has.
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (!done()) this.nowMs = Math.max(this.nowMs, untilMs)
  }

  #before(a: number, b: number): boolean {
    const [one, two] = [this.#events[a], this.#events[b]]
    if (one === undefined || two === undefined) return one !== undefined
    return one.atMs === two.atMs ? one.order < two.order : one.atMs < two.atMs
  }

  #swap(a: number, b: number): void {
    const [one, two] = [this.#events[a], this.#events[b]]
    if (one === undefined || two === undefined) return
    this.#events[a] = two
    this.#events[b] = one
  }

  #up(index: number): void {
    for (let at = index; at > 0;) {
      const parent = (at - 1) >> 1
      if (!this.#before(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #pop(): void {
    this.#swap(0, this.#events.length - 1)
    this.#events.pop()
    for (let at = 0; ;) {
      const left = 2 * at + 1
      const child = left + 1 < this.#events.length && this.#before(left + 1, left) ? left + 1 : left
      if (child >= this.#events.length || !this.#before(child, at)) return
      this.#swap(at, child)
      at = child
    }
  }
}

/** The clock of one life of a process: it drifts, its timers wait while the process is stopped. */
export class LifeClock implements TimerClock {
  stoppedUntilMs = 0
  alive = true
  readonly #schedule: Schedule
  readonly #drift: number

  constructor(schedule: Schedule, drift: number) {
    this.#schedule = schedule
    this.#drift = drift
  }

  wallMs(): number {
    return this.#schedule.wallMs
  }

  monotonicMs(): number {
    return this.#schedule.nowMs * this.#drift
  }

  setTimer(ms: number, fire: () => void): () => void {
    return this.#schedule.after(ms / this.#drift, () => this.run(fire))
  }

  /** Runs something in this life when it is not stopped; never once it has ended. */
  run(act: () => void): void {
    if (!this.alive) return
    if (this.stoppedUntilMs <= this.#schedule.nowMs) return act()
    this.#schedule.after(this.stoppedUntilMs - this.#schedule.nowMs, () => this.run(act))
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.setTimer(ms, resolve))
  }
}
