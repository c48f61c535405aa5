// Bounds the processors of cells whose budget or balance comes to its end, in the kernel: the less is held, the slower they
// are. A guard that gets no processor for two seconds burns nothing beyond what is held then.
import type { Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cell } from '#cells/cell.ts'
import { AHEAD_MAX_MS, budgetOf, type HeldCell, type HeldCells } from './cell-guard.ts'

/** The ledger gives within a tick, of 0.25 s under load. Until then a hold lasts so long. */
const GRANT_MS = 300
/** Part of the machine for an orderly stop. */
const ENDING_PERMILLE = 100
const MACHINE_PERMILLE = 1000

/** To be called after each round of checks, with the groups of all accounts. Never throws. */
export function createCellBounds({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
}) {
  let shortSinceMs = new Map<string, number>()
  const refused = new WeakSet<Cell>()
  /** Of each processor so many thousandths. */
  const bound = ({ cell, ahead }: HeldCell, permille = MACHINE_PERMILLE): void => {
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
  return (groups: Iterable<HeldCells>): void => {
    const nowMs = clock.monotonicMs()
    const before = shortSinceMs
    shortSinceMs = new Map()
    for (const { cells, short } of groups)
      for (const held of cells) {
        const permille = short.get(budgetOf(held))
        if (permille === undefined) {
          bound(held, held.hold.unpaid === undefined ? undefined : ENDING_PERMILLE)
          continue
        }
        const key = `${held.hold.payer.account} ${budgetOf(held)}`
        const sinceMs = before.get(key) ?? nowMs
        shortSinceMs.set(key, sinceMs)
        const times = nowMs - sinceMs < GRANT_MS ? AHEAD_MAX_MS / GRANT_MS : 1
        bound(held, held.hold.unpaid === undefined ? permille * times : ENDING_PERMILLE)
      }
  }
}
