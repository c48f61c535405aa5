// Gives holds the payers of now: an account may get funds, and a budget may be set, changed or removed, while a cell
// runs. Drops the holds of cells that are gone.
import { sleep, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { CellHold, CellPayer } from '#charging/cell-hold.ts'
import type { Cells } from '#cells/cell.ts'
import type { Logger } from '#base/log.ts'

export type CellPayersDeps = {
  readonly cells: Pick<Cells, 'list'>
  readonly holds: Map<string, CellHold>
  readonly payerOf: (account: string, cell: string) => Promise<CellPayer>
  /** Resolves when the session has ticked. Rejects when the ledger does not answer in time. */
  readonly tick: () => Promise<void>
  /** Charges the energy that windows have measured of a cell, now. */
  readonly settle: (cell: string) => void
  /** Calls back at each change of a budget. */
  readonly onChange: (act: () => void) => void
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
}

/** Also between two changes of one cell: the guard, which checks each second, sees each hold. */
const REST_MS = 2000
/** Time for which a hold without its cell is kept: for a start, and for the last window. */
const ABSENT_MS = 10_000
/** The session hears of a lowered budget, gives back its lease, and the budget takes its energy out. */
const RENEWAL_TICKS = 3

/** Works until the signal aborts. Never rejects. */
export async function keepPayers(deps: CellPayersDeps, signal: AbortSignal): Promise<void> {
  const { holds, cells, clock } = deps
  const absentSinceMs = new WeakMap<CellHold, number>()
  const changedMs = new WeakMap<CellHold, number>()
  let waiting = new AbortController()
  deps.onChange(() => waiting.abort())
  while (!signal.aborted) {
    await sleep(REST_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
    waiting = new AbortController()
    const running = new Set(cells.list().map(({ spec }) => spec.name))
    for (const [cell, hold] of holds) {
      if (signal.aborted) return
      if (running.has(cell)) {
        absentSinceMs.delete(hold)
        if (clock.monotonicMs() < (changedMs.get(hold) ?? -Infinity) + REST_MS) continue
        if (await keepPayer(deps, cell, hold)) changedMs.set(hold, clock.monotonicMs())
        continue
      }
      const nowMs = clock.monotonicMs()
      const sinceMs = absentSinceMs.get(hold) ?? nowMs
      absentSinceMs.set(hold, sinceMs)
      if (nowMs - sinceMs < ABSENT_MS) continue
      absentSinceMs.delete(hold)
      holds.delete(cell)
      hold.end()
    }
  }
}

/** Resolves with true when the hold has another payer. */
async function keepPayer(
  { holds, payerOf, settle, tick, log }: CellPayersDeps,
  cell: string,
  hold: CellHold,
): Promise<boolean> {
  try {
    const payer = await payerOf(hold.payer.account, cell)
    if (isSame(payer, hold.payer)) return false
    hold.release(payer, () => settle(cell))
    try {
      for (let ticks = 0; ticks < RENEWAL_TICKS; ticks++) await tick()
    } finally {
      await hold.regain()
      // Another life of the cell has a hold of its own.
      if (holds.get(cell) !== hold) hold.end()
    }
    return true
  } catch (error) {
    log.debug('The payer of a cell could not be read', { cell, error: messageOf(error) })
    return false
  }
}

const isSame = (one: CellPayer, other: CellPayer): boolean =>
  one.funded === other.funded && one.njPerDay === other.njPerDay
