// Accounting of the work in the process of tasks whose CPU accounts pay, with marks and a session of its own: the session of
// stored bytes draws on reserves that are for stored bytes alone.
import type { TimerClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { createWorkBills } from '#charging/work-bills.ts'
import type { Payer } from '#charging/spend.ts'
import { createLedger } from '#ledger/ledger.ts'
import { openBackgroundAccounting, type AccountingConfig } from '#node/background-accounting.ts'
import { billedPage } from '#node/meter/gateway-bills.ts'
import type { PaidWork } from '#node/tasks-part.ts'
import type { State } from '#state/connect.ts'

/** The name of its session, and of the folder of its journal. */
export const PAID_WORK = 'paid-tasks'
/** Some hundred turns of a deployment; small wallets keep the rest. */
const AHEAD_NJ = nj(500_000_000n)

export type OpenPaidWork = PaidWork & {
  /** For the meter. */
  page(): ReturnType<typeof billedPage>
  /** CPU of this process that accounts pay. */
  ownNs(): number
  close(): Promise<void>
}

/**
 * A killed life has left its session open, with leases and perhaps with charges in its journal: opening posts these, and
 * ends the session.
 */
export const hasEarlierWork = async (state: State): Promise<boolean> =>
  (await createLedger(state).openSessionOf(PAID_WORK)) !== undefined

export async function openPaidWork(
  config: AccountingConfig,
  deps: {
    readonly payerOf: (account: string) => Payer | Promise<Payer>
    readonly clock: TimerClock
    readonly log: Logger
  },
): Promise<OpenPaidWork> {
  const { payerOf, clock, log } = deps
  const { charging, session, marks, close } = await openBackgroundAccounting(config, {
    process: PAID_WORK,
    log,
    leaseLeastNj: nj(0n),
    aheadNj: AHEAD_NJ,
  })
  const markOwn = () => marks.markLater(marks.operator)
  return {
    markOwn,
    bills: (operation) => createWorkBills({ operation, charging, clock, payerOf, markOwn }),
    page: () => billedPage(session.id, charging),
    // The learned part of their bills was spent in other cells.
    ownNs: () => Number(charging.billed().chargedNs - charging.activity.indirectNs),
    close,
  }
}
