// Cells that accounts pay for run only while their energy is held. A guard checks each, the sooner the less can still be
// held. It ends a cell before the next check could find the cell unpaid.
import { sleep } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import { nj, type Nj } from '#base/units.ts'
import type { Cell } from '#cells/cell.ts'
import { CellHold } from '#charging/cell-hold.ts'
import type { Charging } from '#charging/charging.ts'
import { isUnpayable } from '#charging/faults.ts'
import { cellOperationOf } from '#contract/cell-operation.ts'
import { CHECK_MAX_MS, checkCell, isHeldAgain, STOP_NJ } from './cell-guard.ts'
import { keepPayers, type CellPayersDeps } from './cell-payers.ts'
import type { CellAhead } from './meter/meter.ts'

export interface AccountCells {
  /**
   * Holds energy for a cell that is about to start. Throws `balance_depleted`, `free_tier_exceeded`,
   * `budget_exhausted` or `state_unavailable`.
   */
  admit(cell: string, account: string): Promise<void>
  /** Names who ends cells whose names begin so when they cannot be paid; without it they are stopped. */
  onUnpaid(prefix: string, handler: UnpaidHandler): void
  /** Energy of a cell that windows have measured and that is not charged yet. */
  measuredNj(cell: string): Nj
  /** Charges the energy that windows have measured of a cell, now. */
  settle(cell: string): void
}

export type UnpaidHandler = {
  /** Tells the clients of a frozen cell. */
  readonly tell: (cell: Cell, why: ErgonError) => Promise<void>
  readonly stop: (cell: Cell, why: ErgonError) => Promise<void>
}

export type AccountCellsDeps = CellPayersDeps & {
  readonly charging: Pick<Charging, 'open'>
  readonly ahead: (cell: Cell) => CellAhead
  /** When cells were last read for a window. */
  readonly readMs: () => number
  /** Called when a cell is ended by its budget, or is not admitted because of it. */
  readonly exceeded: (cell: string) => Promise<void>
}

/** The start of a cell: a PostgreSQL server takes 0.1 to 0.2 s of CPU. */
const START_NJ = nj(1_000_000_000n)
const READ_MAX_MS = 5000
const READ_CHECK_MS = 20

export function createAccountCells(
  deps: AccountCellsDeps,
): AccountCells & { run(signal: AbortSignal): Promise<void> } {
  const { cells, holds, settle, log } = deps
  const handlers = new Map<string, UnpaidHandler>()
  const take = createTake(deps)

  const tellExceeded = createTeller(deps)
  const end = createEnd(deps, handlers, tellExceeded)
  /** Nobody asked before its start: it is unpaid until the ledger has answered. */
  const late = new Set<Cell>()
  const takeLate = (cell: Cell, account: string) => {
    if (late.has(cell)) return CHECK_MAX_MS
    late.add(cell)
    take(cell.spec.name, account, STOP_NJ)
      .catch((error: unknown) => {
        if (isUnpayable(error)) return end(cell, undefined, error)
        return log.warn('A cell is not held', { cell: cell.spec.name, error: messageOf(error) })
      })
      .finally(() => late.delete(cell))
    return CHECK_MAX_MS
  }
  const check = (cell: Cell): number => {
    const { name, payer } = cell.spec
    if (payer.kind !== 'account') return CHECK_MAX_MS
    const hold = holds.get(name)
    if (hold === undefined) return takeLate(cell, payer.account)
    return checkCell(cell, hold, { ahead: deps.ahead(cell), holds: holds.values(), end })
  }
  return {
    async admit(cell, account) {
      await take(cell, account, START_NJ).catch((error: unknown) => {
        void tellExceeded(cell, error)
        throw error
      })
    },
    onUnpaid: (prefix, handler) => void handlers.set(prefix, handler),
    measuredNj: (cell) => holds.get(cell)?.measuredNj ?? nj(0n),
    settle,
    async run(signal) {
      const guarding = async () => {
        while (!signal.aborted) {
          const restMs = Math.min(CHECK_MAX_MS, ...cells.list().map(check))
          await sleep(restMs, signal).catch(() => undefined)
        }
      }
      await Promise.all([guarding(), keepPayers(deps, signal)])
    },
  }
}

type Teller = (cell: string, why: unknown) => Promise<void>

/** Tells that a budget ended a cell, or did not admit it. */
const createTeller =
  ({ exceeded, log }: AccountCellsDeps): Teller =>
  async (cell, why) => {
    if (!(why instanceof ErgonError) || why.code !== 'budget_exhausted') return
    await exceeded(cell).catch((error: unknown) => {
      log.warn('An event of a budget is lost', { cell, error: messageOf(error) })
    })
  }

/** Ends a cell that cannot be paid; calls for one cell share its end. */
function createEnd(
  { ahead, settle, log }: AccountCellsDeps,
  handlers: ReadonlyMap<string, UnpaidHandler>,
  tellExceeded: Teller,
) {
  const ends = new Map<Cell, Promise<void>>()
  const end = async (cell: Cell, hold: CellHold | undefined, why: ErgonError) => {
    const { name } = cell.spec
    const failed = (error: unknown) => log.error('A cell was not ended', { cell: name, error })
    const handler = [...handlers].find(([prefix]) => name.startsWith(prefix))?.[1]
    // Nothing is used while the words travel. A program that is asked to stop has words of its own.
    if (hold !== undefined) hold.isFrozen = true
    await cell.freeze(true).catch(failed)
    if (hold?.isWanted === true && (await isHeldAgain(hold, ahead(cell)))) {
      hold.isFrozen = false
      hold.unpaid = undefined
      return await cell.freeze(false).catch(failed)
    }
    log.info('A cell is ended: it cannot be paid', { cell: name, why: why.message })
    await handler?.tell(cell, why).catch(failed)
    if (hold !== undefined) hold.isFrozen = false
    await handler?.stop(cell, why).catch(failed)
    await cell.stop().catch(failed)
    settle(name)
    await tellExceeded(name, why)
  }
  return (cell: Cell, hold: CellHold | undefined, why: ErgonError): Promise<void> => {
    const running = ends.get(cell) ?? end(cell, hold, why).finally(() => ends.delete(cell))
    ends.set(cell, running)
    return running
  }
}

/** Takes the hold of a cell. Calls for one cell wait for each other: a later one may need more. */
function createTake(deps: AccountCellsDeps) {
  const { holds, charging, payerOf, settle } = deps
  const taking = new Map<string, Promise<void>>()
  const open = async (cell: string, account: string, leastNj: Nj) => {
    const before = holds.get(cell)
    if (before?.unpaid === undefined && before?.covers(leastNj) === true) return
    // Its last second is held until a window has measured it: else it could be held again.
    if (before !== undefined) await untilRead(deps)
    settle(cell)
    before?.end()
    holds.delete(cell)
    const payer = await payerOf(account, cell)
    holds.set(cell, await CellHold.take(charging, payer, leastNj, cellOperationOf(cell)))
  }
  return (cell: string, account: string, leastNj: Nj): Promise<void> => {
    const before = taking.get(cell) ?? Promise.resolve()
    const own = before.catch(() => undefined).then(() => open(cell, account, leastNj))
    taking.set(cell, own)
    return own.finally(() => {
      if (taking.get(cell) === own) taking.delete(cell)
    })
  }
}

/** Resolves when a window has read the cells of now; the meter is given a while. */
async function untilRead({ readMs, clock }: AccountCellsDeps): Promise<void> {
  const nowMs = clock.monotonicMs()
  while (readMs() < nowMs && clock.monotonicMs() < nowMs + READ_MAX_MS) await sleep(READ_CHECK_MS)
}
