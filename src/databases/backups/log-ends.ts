// The ends of a log that a server had written by some times.
import type { Clock } from '#base/clock.ts'

/** The server's log ended here, or before, at a time. */
export type LogEnd = { readonly position: bigint; readonly atMs: number }

/** A server that sends nothing for so long has written nothing before. */
const QUIET_MS = 5000

/**
 * The ends of a log by time, none too early: a message with log says how far the server had written since it sent the
 * message before. That of a silent server is known from how long this process has waited for it.
 */
export function createLogEnds(clock: Clock, begin: LogEnd) {
  let last = begin
  /** The next message has all that was written by then. */
  let beforeMs = begin.atMs
  let waitsSinceMs = clock.wallMs()
  const quietMs = () => {
    const ms = clock.wallMs() - QUIET_MS
    return ms < waitsSinceMs ? -Infinity : ms
  }
  return {
    /** A message has come. */
    work() {
      beforeMs = Math.max(beforeMs, quietMs())
      waitsSinceMs = Infinity
    },
    hear(said: { readonly written: bigint; readonly sentMs: number }): void {
      last = { position: said.written, atMs: beforeMs }
      beforeMs = said.sentMs
    },
    /** All that has come is heard. */
    wait: () => void (waitsSinceMs = clock.wallMs()),
    last: (): LogEnd => ({ ...last, atMs: Math.max(last.atMs, quietMs()) }),
  }
}
