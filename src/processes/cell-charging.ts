// The agent's charges for cells of accounts: by the minute, out of holds, with a guard that ends those that cannot be
// paid. Begins with the windows that an earlier life left.
import { systemClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import type { CellHold } from '#charging/cell-hold.ts'
import { createCellMinutes, type CellMinutes } from '#charging/cell-minutes.ts'
import { chargedId } from '#contract/ledger/charged-resource.ts'
import { noteUsedUp, resourceOfCell } from '#ledger/budgets.ts'
import { readCellWindows } from '#ledger/cell-windows.ts'
import { createAccountCells, type AccountCells } from '#node/account-cells.ts'
import type { OnPayable } from '#node/agent-part.ts'
import type { Accounting } from '#node/accounting.ts'
import { createLimitedPayers } from '#node/limited-payers.ts'
import type { Meter } from '#node/meter/meter.ts'
import type { Queryable, State } from '#state/connect.ts'

export type CellCharging = {
  readonly minutes: CellMinutes
  readonly accountCells: AccountCells
  readonly onPayable: OnPayable
  /** Ends the guard. */
  close(): Promise<void>
}

const TICK_TIMEOUT_MS = 5000

export async function openCellCharging(deps: {
  readonly accounting: Accounting
  readonly meter: Meter
  /** The names of the meter and of this process. */
  readonly names: { readonly meter: string; readonly process: string }
  readonly cells: Cells
  readonly state: State
  /** For the payers of starts. */
  readonly wakes: Queryable
  /** Calls back with each account that got funds, once the session knows. */
  readonly onFunds: (act: (account: string) => void) => void
  readonly log: Logger
}): Promise<CellCharging> {
  const { accounting, meter, names, cells, state, wakes, onFunds, log } = deps
  const { charging, session } = accounting
  const limited = createLimitedPayers(wakes)
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging,
    payerOf: (account, resource) => limited.payerOf(account, chargedId(resource)),
    meter: names.meter,
    stateOf: (name) => cells.list().find(({ spec }) => spec.name === name)?.state,
    left: await readCellWindows(state, names),
    holds,
    log,
  })
  const tick = () => session.tickNow(AbortSignal.timeout(TICK_TIMEOUT_MS))
  const changes: (() => void)[] = []
  const payable: ((of: string) => void)[] = []
  const tellPayable = (of: string) => payable.forEach((act) => act(of))
  onFunds((account) => {
    limited.forget(account)
    tellPayable(account)
  })
  const accountCells = createAccountCells({
    cells,
    charging,
    holds,
    ahead: meter.ahead,
    readMs: meter.readMs,
    payerOf: (account, cell) => limited.payerOf(account, resourceOfCell(cell)),
    settle: minutes.settle,
    tick,
    onChange: (act) => void changes.push(act),
    async isUsedUp(cell) {
      // The last charges of the resource are posted first.
      const resource = resourceOfCell(cell)
      for (const name of holds.keys()) if (resourceOfCell(name) === resource) minutes.settle(name)
      await tick()
      return await noteUsedUp(state, resource)
    },
    clock: systemClock,
    log,
  })
  const listening = await state.listen('ergon_budgets', (resource) => {
    changes.forEach((act) => act())
    tellPayable(resource)
  })
  const ending = new AbortController()
  const guarding = accountCells.run(ending.signal)
  return {
    minutes,
    accountCells,
    onPayable: (act) => void payable.push(act),
    async close() {
      ending.abort()
      await guarding
      await listening[Symbol.asyncDispose]()
    },
  }
}
