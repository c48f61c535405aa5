// Readiness of a cell: the probe of its start, and the watch over the rest of its life.
import { existsSync } from 'node:fs'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Cell, CellSpec, Watch } from './cell.ts'

const PROBE_TIMEOUT_MS = 2000
const PROBE_DELAY_MIN_MS = 5
const PROBE_DELAY_MAX_MS = 200

/**
 * True once the probe succeeds; otherwise the last reason why it did not, once the time of a start is over without progress.
 */
export async function untilAnswering(
  spec: CellSpec,
  { socket, processes }: Pick<Cell, 'socket' | 'processes'>,
  ended: AbortSignal,
): Promise<unknown> {
  const { timeoutMs, progress } = spec.ready
  let seen: string | undefined
  // A start that stands still from its first step on has one such time, not two.
  const early = setTimeout(() => (seen = progress?.(processes())), timeoutMs / 2)
  for (;;) {
    const inTime = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)])
    const answered = await probed(spec, socket, inTime)
    clearTimeout(early)
    const word = answered === true || ended.aborted ? undefined : progress?.(processes())
    if (word === undefined || word === seen) return answered
    seen = word
  }
}

async function probed(spec: CellSpec, socket: string, signal: AbortSignal): Promise<unknown> {
  let reason: unknown = `there is no ${socket}`
  for (let delayMs = PROBE_DELAY_MIN_MS; !signal.aborted;) {
    // Asking nobody a dozen times for each cell took 0.2 s of CPU of a start.
    if (existsSync(socket)) {
      const attempt = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
      try {
        await Promise.race([spec.ready.probe(socket, attempt), untilAborted(attempt)])
        return true
      } catch (error) {
        reason = error
      }
    }
    await sleep(delayMs, signal).catch(() => undefined)
    delayMs = Math.min(delayMs * 1.5, PROBE_DELAY_MAX_MS)
  }
  return reason
}

/**
 * Why a cell that was ready works no more; undefined once the signal is aborted. Silence is counted in looks: of time
 * that passed while this process was stopped nothing is known.
 */
export async function untilStuck(
  { look, everyMs, silentMs }: Watch,
  socket: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let silent = 0; !signal.aborted;) {
    await sleep(everyMs, signal).catch(() => undefined)
    const attempt = AbortSignal.any([signal, AbortSignal.timeout(everyMs)])
    try {
      const words = await Promise.race([look(socket, attempt), untilAborted(attempt)])
      if (words !== undefined) return words
      silent = 0
    } catch (error) {
      silent += attempt.aborted ? 2 * everyMs : everyMs
      if (silent >= silentMs) return `no answer for ${silentMs} ms: ${messageOf(error)}`
    }
  }
  return undefined
}

/** Rejects when the signal is aborted: a probe may not listen to it. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
