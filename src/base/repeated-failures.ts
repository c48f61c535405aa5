// Log lines about what fails again and again: each reason of a subject at once, and then once a minute with the number of
// times between. A resource that does not start is asked for by each request.
import { messageOf } from './errors.ts'
import type { LogFields, Logger, LogLevel } from './log.ts'

const QUIET_MS = 60_000
/** Reasons that are remembered; the one that was logged longest ago is forgotten first. */
const REASONS_MAX = 1000
const REASON_LENGTH_MAX = 500

export type RepeatedFailure = {
  readonly level: LogLevel
  readonly message: string
  /** The resource or program that fails. */
  readonly subject: string
  readonly error: unknown
  readonly fields?: LogFields
}

/** A function that logs a failure, unless the same one was logged in the last minute; `unlogged` counts those. */
export function repeatedFailuresOf(
  log: Logger,
  nowMs: () => number = () => performance.now(),
): (failure: RepeatedFailure) => void {
  const logged = new Map<string, { readonly atMs: number; unlogged: number }>()
  return ({ level, message, subject, error, fields }) => {
    // Names of cells and numbers of processes differ at each try.
    const reason = messageOf(error).replaceAll(/\d+/g, '#').slice(0, REASON_LENGTH_MAX)
    const key = `${subject} ${reason}`
    const before = logged.get(key)
    if (before !== undefined && nowMs() - before.atMs < QUIET_MS) return void before.unlogged++
    logged.delete(key)
    const [oldest] = logged.keys()
    if (logged.size >= REASONS_MAX && oldest !== undefined) logged.delete(oldest)
    logged.set(key, { atMs: nowMs(), unlogged: 0 })
    const unlogged = before?.unlogged ?? 0
    log[level](message, { ...fields, error, ...(unlogged > 0 && { unlogged }) })
  }
}
