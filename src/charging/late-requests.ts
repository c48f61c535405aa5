// Requests that come while the ledger's answer is late. They wait for a fresh session together, in the order in which
// they came, with one timer for all of them.
import type { TimerClock } from '#base/clock.ts'

/** On a busy machine an answer is some 0.4 s late. */
const WAIT_MS_MAX = 1000
/** Beyond these nobody waits: a state that is away for long must not fill the memory with requests. */
export const LATE_REQUESTS_MAX = 1000

type LateRequest = { readonly sinceMs: number; readonly go: () => void }

export class LateRequests {
  readonly #clock: Pick<TimerClock, 'monotonicMs' | 'setTimer'>
  #waiting: LateRequest[] = []
  #cancelTimer: (() => void) | undefined

  constructor(clock: Pick<TimerClock, 'monotonicMs' | 'setTimer'>) {
    this.#clock = clock
  }

  get size(): number {
    return this.#waiting.length
  }

  /**
   * Resolves when they are let go, after a second, or at an abort of the signal: the waiting request checks again.
   * Undefined where too many wait already.
   */
  wait(signal: AbortSignal): Promise<void> | undefined {
    if (signal.aborted || this.#waiting.length >= LATE_REQUESTS_MAX) return undefined
    return new Promise((resolve) => {
      const left = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        resolve()
      }
      const go = () => {
        signal.removeEventListener('abort', left)
        resolve()
      }
      const waiting = { sinceMs: this.#clock.monotonicMs(), go }
      signal.addEventListener('abort', left, { once: true })
      this.#waiting.push(waiting)
      this.#startTimer()
    })
  }

  /** Lets all of them go. */
  letGo(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const { go } of this.#waiting.splice(0)) go()
  }

  #startTimer(): void {
    const [first] = this.#waiting
    if (first === undefined || this.#cancelTimer !== undefined) return
    const clock = this.#clock
    const restMs = first.sinceMs + WAIT_MS_MAX - clock.monotonicMs()
    this.#cancelTimer = clock.setTimer(Math.max(0, restMs), () => {
      this.#cancelTimer = undefined
      const fromMs = clock.monotonicMs() - WAIT_MS_MAX
      while ((this.#waiting[0]?.sinceMs ?? Infinity) <= fromMs) this.#waiting.shift()?.go()
      this.#startTimer()
    })
  }
}
