// When a name may be ordered again after orders that failed. Kept on disk: starts again and again would use up the limits
// of the authority (Let's Encrypt: 5 failed validations of a name an hour).
import { readFileSync } from 'node:fs'
import { writeDurably } from '#base/durable-file.ts'

export type Wait = { readonly failures: number; readonly untilMs: number }

export interface Waits {
  /** The wait of a name; undefined where it may be ordered now. */
  of(host: string, nowMs: number): Wait | undefined
  /** Waits longer than before. */
  fail(host: string, nowMs: number): Wait
  forget(host: string): void
}

const FIRST_MS = 60_000
/** A minute, 4, 16, 64 minutes, and so on. */
const FACTOR = 4
const MAX_MS = 12 * 3_600_000
/** The failures of a name are known for this time after its wait. */
const KEPT_MS = 2 * MAX_MS
const MODE = 0o600

export function openWaits(path: string): Waits {
  const waits = read(path)
  const write = () => writeDurably(path, JSON.stringify([...waits]), MODE)
  return {
    of(host, nowMs) {
      const wait = waits.get(host)
      // A longer one is of a clock that was set back since.
      const isNow = wait === undefined || nowMs >= wait.untilMs || wait.untilMs > nowMs + MAX_MS
      return isNow ? undefined : wait
    },
    fail(host, nowMs) {
      for (const [name, { untilMs }] of waits) if (nowMs > untilMs + KEPT_MS) waits.delete(name)
      const { failures } = waits.get(host) ?? { failures: 0 }
      const untilMs = nowMs + Math.min(FIRST_MS * FACTOR ** failures, MAX_MS)
      const wait = { failures: failures + 1, untilMs }
      waits.set(host, wait)
      write()
      return wait
    },
    forget(host) {
      if (waits.delete(host)) write()
    },
  }
}

/** None where the file cannot be read: it holds nothing that is not found out again. */
function read(path: string): Map<string, Wait> {
  try {
    return new Map(JSON.parse(readFileSync(path, 'utf8')) as [string, Wait][])
  } catch {
    return new Map()
  }
}
