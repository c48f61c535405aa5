// Carries out what a copy planned: a few at a time, with one bar for all; the first failure ends the rest,
// and nothing is reported before every transfer has cleaned up.
import { progress } from '#cli/output.ts'
import type { Session } from './session.ts'

export type Report = {
  /** Bytes that are going to move, of a transfer that was planned without them. */
  readonly expected: (bytes: number) => void
  readonly moved: (bytes: number) => void
}

export type Transfer = {
  /** Bytes that will move; undefined while nobody knows. */
  readonly bytes: number | undefined
  readonly run: (report: Report) => Promise<void>
}

/** Transfers at once, and parts at once of a single one. */
export const CONCURRENCY = 4

/** Runs every transfer; gives the bytes moved, or throws what failed first. */
export async function runTransfers(
  { signal, stop }: Session,
  transfers: readonly Transfer[],
): Promise<number> {
  const report = createReport(transfers)
  const queue = transfers.values()
  const lane = async (): Promise<void> => {
    for (const transfer of queue) {
      if (signal.aborted) return
      await transfer.run(report).catch(stop)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
  signal.throwIfAborted()
  return report.done()
}

const REDRAW_MS = 100

/** Adds up, and draws at most ten times a second; the full bar is the last one. */
function createReport(transfers: readonly Transfer[]): Report & { readonly done: () => number } {
  const what = transfers.length === 1 ? '1 file' : `${transfers.length} files`
  let total = transfers.reduce((sum, { bytes = 0 }) => sum + bytes, 0)
  let done = 0
  let drawnMs = 0
  return {
    expected: (bytes) => void (total += bytes),
    moved: (bytes) => {
      done += bytes
      const nowMs = performance.now()
      // Beyond the total is an input whose length nobody knew.
      if (bytes === 0 || done > total || (done < total && nowMs - drawnMs < REDRAW_MS)) return
      drawnMs = nowMs
      progress(what, done, total)
    },
    done: () => done,
  }
}
