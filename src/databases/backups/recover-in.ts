// The recovery of a restored cluster by its first server, in the cell of its database: the account's, as any of its
// servers. It takes as long as the log takes, while it makes steps.
import { sleep } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { Cell, CellSpec } from '#cells/cell.ts'
import { BackupFault } from './plan.ts'

/** Where the cell differs from that of any server. */
export type OwnCell = Pick<CellSpec, 'output' | 'ended'> & {
  readonly settings?: Readonly<Record<string, string>>
  /** Each step of a start may take so long; by default as long as that of any server. */
  readonly readyMaxMs?: number
  readonly recovers?: true
}

const LOOK_MS = 100
/**
 * For each file of the log, as at any start, and for what is before and behind: the last checkpoint writes all that was
 * replayed.
 */
export const STEP_MS_MAX = 600_000
const LIVES_MAX = 3
/** The whole log was replayed, and has no commit after the target time: its end is the target. */
const BEFORE_TARGET = 'recovery ended before configured recovery target was reached'

/** Resolves with the cell when it answers. Throws a BackupFault when its server cannot recover, and the signal's reason. */
export async function recoverIn(
  begin: (own: OwnCell) => Promise<Cell>,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<Cell> {
  let isBeforeTarget = false
  const cell = await begin({
    readyMaxMs: STEP_MS_MAX,
    output({ stream, text }) {
      log.info('Output of a cell that recovers', { stream, text })
      isBeforeTarget ||= text.includes(BEFORE_TARGET)
    },
  })
  await untilRecovered(cell, signal, () => isBeforeTarget)
  if (!isBeforeTarget) return cell
  await cell.stop()
  const last = await begin({ readyMaxMs: STEP_MS_MAX, settings: { recovery_target_time: '' } })
  await untilRecovered(last, signal)
  return last
}

/** Stops the cell where it cannot recover. */
async function untilRecovered(
  cell: Cell,
  signal: AbortSignal,
  isOver = () => false,
): Promise<void> {
  try {
    while (cell.state !== 'ready' && !isOver()) {
      const isGivenUp = cell.state === 'stopped' || cell.exits.length >= LIVES_MAX
      if (isGivenUp) throw new BackupFault('its server cannot recover')
      await sleep(LOOK_MS, signal)
    }
  } catch (error) {
    await cell.stop()
    throw error
  }
}
