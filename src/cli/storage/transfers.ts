// Carries out what a copy planned: a few at a time, with one bar for all; the first failure ends the rest,
// and nothing is reported before every transfer has cleaned up.
import type { ProgressBar } from '#base/progress-bar.ts'
import { withProgressBar } from '#cli/output.ts'
import type { TransferSession } from './session.ts'

export type TransferReport = {
  /** Bytes that are going to move, of a transfer that was planned without them. */
  readonly expected: (bytes: number) => void
  readonly moved: (bytes: number) => void
}

export type Transfer = {
  /** Bytes that will move; undefined while nobody knows. */
  readonly bytes: number | undefined
  readonly run: (report: TransferReport) => Promise<void>
}

/** Transfers at once, and parts at once of a single one. */
export const CONCURRENCY = 4

/** Runs every transfer; gives the bytes moved, or throws what failed first. */
export const runTransfers = (
  session: TransferSession,
  transfers: readonly Transfer[],
): Promise<number> =>
  withProgressBar((bar) => runAll(session, transfers, createReport(transfers, bar)))

async function runAll(
  { signal, stop }: TransferSession,
  transfers: readonly Transfer[],
  report: ReturnType<typeof createReport>,
): Promise<number> {
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

/** Adds up what all transfers report, for one bar. */
function createReport(
  transfers: readonly Transfer[],
  bar: ProgressBar,
): TransferReport & { readonly done: () => number } {
  const what = transfers.length === 1 ? '1 file' : `${transfers.length} files`
  let total = transfers.reduce((sum, { bytes = 0 }) => sum + bytes, 0)
  let done = 0
  return {
    expected: (bytes) => void (total += bytes),
    moved: (bytes) => {
      done += bytes
      // More than the total: the length of an input was not known.
      bar.show(what, done, done > total ? undefined : total)
    },
    done: () => done,
  }
}
