// Bounds the processors of cells whose budget or balance comes to its end, in the kernel: the less is held, the slower
// they are. A guard that gets no processor for two seconds burns nothing beyond its hold.
import type { Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cell } from '#cells/cell.ts'
import { AHEAD_MAX_MS, limitsOf, type CheckedCells, type HeldCell } from './cell-guard.ts'

/** Time that a hold lasts until the ledger grants the next one: within a tick, of 0.25 s under load. */
const GRANT_MS = 300
/** Part of the machine for an orderly stop. */
const ENDING_PERMILLE = 100
const MACHINE_PERMILLE = 1000

/** To be called after each round of checks, with the cells of all accounts. Never throws. */
export function createCellBounds({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
}) {
  let shortSinceMs = new Map<string, number>()
  const refused = new WeakSet<Cell>()
  /** Thousandths of each processor. */
  const bound = ({ cell, ahead }: HeldCell, permille: number): void => {
    try {
      cell.limitCpu(
        'energy',
        permille < MACHINE_PERMILLE ? Math.ceil(ahead.cpus * permille) : undefined,
      )
    } catch (error) {
      // A bound only makes a loss smaller: the guard goes on without.
      if (!refused.has(cell))
        log.warn('A cell could not be slowed', { cell: cell.spec.name, error: messageOf(error) })
      refused.add(cell)
    }
  }
  return (rounds: Iterable<CheckedCells>): void => {
    const nowMs = clock.monotonicMs()
    const before = shortSinceMs
    shortSinceMs = new Map()
    for (const { checked, reachMs } of rounds)
      for (const { held, ownMs, isKilled } of checked) {
        // A kill takes the bound away, so that the end is not slow.
        if (isKilled) continue
        if (held.hold.unpaid !== undefined) {
          bound(held, ENDING_PERMILLE)
          continue
        }
        let permille = MACHINE_PERMILLE
        for (const limit of limitsOf(held)) {
          const aheadMs = reachMs.get(limit)
          if (aheadMs === undefined || aheadMs >= ownMs) continue
          const key = `${held.hold.payer.account} ${limit}`
          const sinceMs = before.get(key) ?? nowMs
          shortSinceMs.set(key, sinceMs)
          const times = nowMs - sinceMs < GRANT_MS ? AHEAD_MAX_MS / GRANT_MS : 1
          permille = Math.min(permille, (MACHINE_PERMILLE * aheadMs * times) / ownMs)
        }
        bound(held, permille)
      }
  }
}
