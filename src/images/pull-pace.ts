// The pace of one pull from a registry. Silence has a limit of its own; without a pace, a registry that sends a byte now and
// then would hold a pull for days.
import { fault } from '#contract/errors.ts'

export type PullPaceLimits = {
  readonly tickMs: number
  /** The least bytes in each window of waiting, and the ticks of that window. */
  readonly windowTicks: number
  readonly windowBytes: number
  /** The most ticks by which a whole pull is behind this rate: the longest time grows with the size. */
  readonly bytesPerTick: number
  readonly behindTicks: number
}

export interface PullPace {
  /** The signal of the work aborts once the registry is too slow. Rejects with registry_unreachable then. */
  keep<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>
  /** Waits for the first word of an answer. */
  wait<T>(answer: Promise<T>): Promise<T>
  /** Counts what comes, and the time until it comes. */
  count(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer>
}

const LIMITS: PullPaceLimits = {
  tickMs: 1000,
  windowTicks: 60,
  windowBytes: 60 * 16_000,
  bytesPerTick: 500_000,
  behindTicks: 300,
}

/** Ticks count while the registry is waited for: those of a slow disk of this node do not. */
export function createPullPace(limits: PullPaceLimits = LIMITS): PullPace {
  let isWaiting = false
  let ticks = 0
  let bytes = 0
  let windowAt = { ticks: 0, bytes: 0 }
  const isTooSlow = (): boolean => {
    if (bytes < (ticks - limits.behindTicks) * limits.bytesPerTick) return true
    if (ticks - windowAt.ticks < limits.windowTicks) return false
    const gotBytes = bytes - windowAt.bytes
    windowAt = { ticks, bytes }
    return gotBytes < limits.windowBytes
  }
  return {
    async keep(work, signal) {
      const ending = new AbortController()
      const timer = setInterval(() => {
        if (!isWaiting) return
        ticks++
        if (isTooSlow()) ending.abort(tooSlow(bytes, (ticks * limits.tickMs) / 1000))
      }, limits.tickMs)
      try {
        return await work(AbortSignal.any([signal, ending.signal]))
      } catch (error) {
        throw ending.signal.aborted && !signal.aborted ? ending.signal.reason : error
      } finally {
        clearInterval(timer)
        isWaiting = false
      }
    },
    async wait(answer) {
      isWaiting = true
      return await answer.finally(() => (isWaiting = false))
    },
    async *count(chunks) {
      isWaiting = true
      for await (const chunk of chunks) {
        isWaiting = false
        bytes += chunk.length
        yield chunk
        isWaiting = true
      }
      isWaiting = false
    },
  }
}

const tooSlow = (bytes: number, seconds: number) =>
  fault(
    'registry_unreachable',
    `Could not pull the image: the registry is too slow: ${bytes} bytes in ${Math.ceil(seconds)} s`,
  )
