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

/** The first wait, what each one is multiplied by, and the longest. */
type Lengths = { readonly firstMs: number; readonly factor: number; readonly maxMs: number }

/** After a failure of the name: a minute, 4, 16, 64 minutes, up to 12 hours. */
const FAILED: Lengths = { firstMs: 60_000, factor: 4, maxMs: 12 * 3_600_000 }
/** After the authority did not answer for the name: 1, 2, 4, 8, 15 minutes. */
const AWAY: Lengths = { firstMs: 60_000, factor: 2, maxMs: 900_000 }
/** The failures of a name are known for so many of the longest waits after its wait. */
const KEPT_FACTOR = 2
const MODE = 0o600

export function openWaits(path: string): Waits {
  const waits = read(path)
  return createWaits(FAILED, waits, () => writeDurably(path, JSON.stringify([...waits]), MODE))
}

/** They end with the process. */
export const awayWaits = (): Waits => createWaits(AWAY, new Map(), () => undefined)

function createWaits(
  { firstMs, factor, maxMs }: Lengths,
  waits: Map<string, Wait>,
  write: () => void,
): Waits {
  return {
    of(host, nowMs) {
      const wait = waits.get(host)
      // A longer one is of a clock that was set back since.
      const isNow = wait === undefined || nowMs >= wait.untilMs || wait.untilMs > nowMs + maxMs
      return isNow ? undefined : wait
    },
    fail(host, nowMs) {
      const keptMs = KEPT_FACTOR * maxMs
      for (const [name, { untilMs }] of waits) if (nowMs > untilMs + keptMs) waits.delete(name)
      const { failures } = waits.get(host) ?? { failures: 0 }
      const untilMs = nowMs + Math.min(firstMs * factor ** failures, maxMs)
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
