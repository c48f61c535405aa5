// Cells that accounts pay for run only while their energy is held. A guard checks each, the sooner the less can still be
// held. It ends a cell before the next check could find the cell unpaid.
import { sleep } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import { nj, type Nj } from '#base/units.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import { CellHold } from '#charging/cell-hold.ts'
import type { Charging } from '#charging/charging.ts'
import { isUnpayable } from '#charging/faults.ts'
import { cellOperationOf } from '#contract/ledger/cell-operation.ts'
import { START_NJ } from '#ledger/budgets.ts'
import { CHECK_MAX_MS, checkCells, releaseAhead, isHeldAgain, type HeldCell } from './cell-guard.ts'
import { createCellBounds } from './cell-bounds.ts'
import { keepPayers, type CellPayersDeps } from './cell-payers.ts'
import { createEndedHolds, untilRead, type EndedHolds, type WindowsDeps } from './ended-holds.ts'
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
  /** Kept for an orderly stop of such a cell, where that takes much. */
  readonly stopNj?: Nj
  /** Tells the clients of a frozen cell. */
  readonly tell: (cell: Cell, why: ErgonError) => Promise<void>
  readonly stop: (cell: Cell, why: ErgonError) => Promise<void>
  /** Called when the budget of a cell has no energy left for today. */
  readonly usedUp?: (cell: string) => Promise<void>
}

export type AccountCellsDeps = CellPayersDeps &
  WindowsDeps & {
    readonly cells: Pick<Cells, 'list' | 'onChange'>
    readonly charging: Pick<Charging, 'open'>
    readonly ahead: (cell: Cell) => CellAhead
    /**
     * Asked when a budget has ended a cell, or does not admit it: whether nothing of the budget can be used any more today.
     * Other cells may hold the rest, and a cell that has ended gives back what was held for its next moments.
     */
    readonly isUsedUp: (cell: string) => Promise<boolean>
  }

/** For an orderly stop: 30 ms of one processor. */
const STOP_NJ = nj(100_000_000n)

export function createAccountCells(
  deps: AccountCellsDeps,
): AccountCells & { run(signal: AbortSignal): Promise<void> } {
  const { cells, holds, settle } = deps
  const handlers = new Map<string, UnpaidHandler>()
  const { handlerOf, heldOf, byAccount } = createHeldCells(deps, handlers)
  let resting = new AbortController()
  /** Gives back what cells of an account hold ahead; false where there are none. */
  const releaseOf = (account: string): boolean => {
    const others = byAccount().get(account) ?? []
    releaseAhead(others)
    // They need their next check earlier.
    resting.abort()
    return others.length > 0
  }
  const ended = createEndedHolds(deps)
  const take = createTake(deps, { releaseOf, ended })
  const limited = createLimited(deps, handlerOf)
  const end = createEnd(deps, { handlerOf, heldOf, limited })
  const takeLate = createTakeLate(deps, take, end)
  const bound = createCellBounds(deps)
  /** Checks all cells. Returns the time until the next check. */
  const check = (): number => {
    ended.look()
    for (const cell of cells.list()) {
      const { name, payer } = cell.spec
      if (payer.kind === 'account' && !holds.has(name)) takeLate(cell, payer.account)
    }
    const rounds = [...byAccount().values()].map((group) => checkCells(group, end))
    bound(rounds)
    const restsMs = rounds.flatMap(({ checked }) => checked.map((one) => one.restMs))
    return Math.min(CHECK_MAX_MS, ...restsMs)
  }
  return {
    async admit(cell, account) {
      await take(cell, account, START_NJ).catch((error: unknown) => {
        void limited(cell, error)
        throw error
      })
    },
    onUnpaid: (prefix, handler) => void handlers.set(prefix, handler),
    measuredNj: (cell) => holds.get(cell)?.measuredNj ?? nj(0n),
    settle,
    async run(signal) {
      const guarding = async () => {
        while (!signal.aborted) {
          const restMs = check()
          resting = new AbortController()
          await sleep(restMs, AbortSignal.any([signal, resting.signal])).catch(() => undefined)
        }
      }
      // Little is held for a start. In the next turn: a request waits for the line that says where the cell listens.
      cells.onChange(({ spec }) => {
        if (spec.payer.kind === 'account') setImmediate(() => resting.abort())
      })
      await Promise.all([guarding(), keepPayers(deps, signal)])
    },
  }
}

type EndCell = (cell: Cell, hold: CellHold | undefined, why: ErgonError) => Promise<void>
type TakeHold = (cell: string, account: string, leastNj: Nj) => Promise<void>

/** The cells of accounts that run and are held. */
function createHeldCells(
  { cells, holds, ahead }: AccountCellsDeps,
  handlers: ReadonlyMap<string, UnpaidHandler>,
) {
  const handlerOf: HandlerOf = (cell) =>
    [...handlers].find(([prefix]) => cell.startsWith(prefix))?.[1]
  const heldOf = (cell: Cell, hold: CellHold): HeldCell => ({
    cell,
    hold,
    ahead: ahead(cell),
    stopNj: handlerOf(cell.spec.name)?.stopNj ?? STOP_NJ,
  })
  const byAccount = () => {
    const all = cells.list().flatMap((cell) => {
      const hold = holds.get(cell.spec.name)
      return hold === undefined ? [] : [heldOf(cell, hold)]
    })
    return Map.groupBy(all, ({ hold }) => hold.payer.account)
  }
  return { handlerOf, heldOf, byAccount }
}

/** Holds energy of a cell that nobody asked for before its start: it is unpaid until the ledger has answered. */
function createTakeLate({ log }: AccountCellsDeps, take: TakeHold, end: EndCell) {
  const late = new Set<Cell>()
  return (cell: Cell, account: string): void => {
    if (late.has(cell)) return
    late.add(cell)
    take(cell.spec.name, account, STOP_NJ)
      .catch((error: unknown) => {
        if (isUnpayable(error)) return end(cell, undefined, error)
        return log.warn('A cell is not held', { cell: cell.spec.name, error: messageOf(error) })
      })
      .finally(() => late.delete(cell))
  }
}

type HandlerOf = (cell: string) => UnpaidHandler | undefined
type OnBudgetEnd = (cell: string, why: unknown) => Promise<void>

/** Follows the end or the refusal of a cell where a budget is why. */
const createLimited =
  ({ isUsedUp, log }: AccountCellsDeps, handlerOf: HandlerOf): OnBudgetEnd =>
  async (cell, why) => {
    if (!(why instanceof ErgonError) || why.code !== 'budget_exhausted') return
    try {
      if (await isUsedUp(cell)) await handlerOf(cell)?.usedUp?.(cell)
    } catch (error) {
      log.warn('The end of a budget is not told', { cell, error: messageOf(error) })
    }
  }

/** Ends a cell that cannot be paid; calls for one cell share its end. */
function createEnd(
  deps: AccountCellsDeps,
  {
    handlerOf,
    heldOf,
    limited,
  }: Pick<ReturnType<typeof createHeldCells>, 'handlerOf' | 'heldOf'> & {
    readonly limited: OnBudgetEnd
  },
): EndCell {
  const { settle, log } = deps
  const ends = new Map<Cell, Promise<void>>()
  const end = async (cell: Cell, hold: CellHold | undefined, why: ErgonError) => {
    const { name } = cell.spec
    const failed = (error: unknown) => log.error('A cell was not ended', { cell: name, error })
    const handler = handlerOf(name)
    // Nothing is used while the words travel. A program that is asked to stop has words of its own.
    if (hold !== undefined) hold.isFrozen = true
    await cell.freeze(true).catch(failed)
    if (hold?.isWanted === true && (await isHeldAgain(heldOf(cell, hold)))) {
      hold.isFrozen = false
      hold.unpaid = undefined
      return await cell.freeze(false).catch(failed)
    }
    log.info('A cell is ended: it cannot be paid', { cell: name, why: why.message })
    await handler?.tell(cell, why).catch(failed)
    if (hold !== undefined) hold.isFrozen = false
    await handler?.stop(cell, why).catch(failed)
    await cell.stop().catch(failed)
    await untilRead(deps)
    settle(name)
    await limited(name, why)
  }
  return (cell, hold, why) => {
    const running = ends.get(cell) ?? end(cell, hold, why).finally(() => ends.delete(cell))
    ends.set(cell, running)
    return running
  }
}

/** Takes the hold of a cell. Calls for one cell wait for each other: a later one may need more. */
function createTake(
  deps: AccountCellsDeps,
  given: { readonly releaseOf: (account: string) => boolean; readonly ended: EndedHolds },
): TakeHold {
  const { releaseOf, ended } = given
  const { holds, charging, payerOf, settle } = deps
  const taking = new Map<string, Promise<void>>()
  const open = async (cell: string, account: string, leastNj: Nj) => {
    const before = holds.get(cell)
    if (before !== undefined) ended.reuse(before)
    if (before?.unpaid === undefined && before?.covers(leastNj) === true) return
    // Its last second is held until a window has measured it: else it could be held again.
    if (before !== undefined) await untilRead(deps)
    settle(cell)
    before?.end()
    holds.delete(cell)
    const payer = await payerOf(account, cell)
    const take = () => CellHold.take(charging, payer, leastNj, cellOperationOf(cell))
    const again = (give: () => boolean | Promise<boolean>) => async (error: unknown) => {
      if (!isUnpayable(error) || !(await give())) throw error
      return await take()
    }
    const hold = take()
      .catch(again(() => releaseOf(account)))
      .catch(again(() => ended.giveBack(account)))
    holds.set(cell, await hold)
  }
  return (cell, account, leastNj) => {
    const before = taking.get(cell) ?? Promise.resolve()
    const own = before.catch(() => undefined).then(() => open(cell, account, leastNj))
    taking.set(cell, own)
    return own.finally(() => {
      if (taking.get(cell) === own) taking.delete(cell)
    })
  }
}
