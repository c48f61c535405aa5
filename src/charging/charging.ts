// Where a joule becomes money, and the only place. Every protocol opens a spend, admits it against leases,
// marks what it burns and settles it once; the settled charge is journaled before its figures leave.
//
//   open ── admit ── mark, claim … ── settle ⇒ journal ⇒ tick ⇒ ledger
//
// settle bills min(measured, held): an account cannot be overdrawn whatever fails.
import { Bag } from '#base/bag.ts'
import { InvariantError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Activity } from '#metering/indirect.ts'
import { addBilled, addByCell, type Billed, type BilledByCell } from '#metering/true-up.ts'
import { Billing } from './billing.ts'
import type { ChargingDeps } from './charging-deps.ts'
import { OpenSpend } from './open-spend.ts'
import type { Span } from './spend.ts'

export interface Charging {
  /**
   * Opens a spend; its CPU is counted from here, and is the operator's until it is admitted. Its charge says
   * when it was open, or the span that is given.
   */
  open(span?: Span): OpenSpend
  /** Resolves once work may be admitted again, or after a second: Session.untilFresh(). Undefined where it may be now. */
  untilFresh(signal: AbortSignal): Promise<void> | undefined
  /** A read without a request has ended: its CPU is the operator's, and what came before is of the next mark. */
  absorb(): void
  /** After each tick: its CPU was the operator's, and unattributed requests whose second is over are journaled. */
  ticked(): void
  /** Journals all charges that unattributed requests share: before the session ends. */
  settleUnattributed(): void
  /** Cuts running spends of a token that was revoked. */
  revoke(change: { token: string | null; account: string }): void
  /** Cuts everything that still runs: the process is stopping. */
  drain(): void
  readonly running: number
  /** The spends that run. */
  readonly spends: Iterable<Pick<OpenSpend, 'receiptId' | 'operation' | 'payer' | 'measured'>>
  /** Running totals of the energy that is billed by tariff; see metering/true-up.ts. Neither ever falls. */
  billed(): Billed
  /** The same of the time of steps on the GPU, by the cell that steps. */
  billedGpu(): BilledByCell
  /** Running totals, which never fall: settled requests, and their billed indirect CPU. */
  readonly activity: Activity
}

export function createCharging(deps: ChargingDeps): Charging {
  const running = new Bag<OpenSpend>()
  const billing = new Billing(deps)
  const shared = { ...deps, billing, running }
  return {
    open: (span) => new OpenSpend(shared, span),
    untilFresh: (signal) => deps.session.untilFresh(signal),
    absorb: () => deps.marks.markRead(deps.marks.operator),
    ticked() {
      deps.marks.mark(deps.marks.operator)
      try {
        billing.unattributed.settle('over')
      } catch (error) {
        // The journal reported an error of the disk to its owner, which ends the process.
        if (error instanceof InvariantError) throw error
      }
    },
    settleUnattributed: () => billing.unattributed.settle('all'),
    revoke(change) {
      const reason = fault('token_revoked', 'Could not go on: the token was revoked')
      for (const spend of running)
        if (change.token !== null && spend.payer?.token === change.token) spend.stop(reason)
    },
    drain() {
      const reason = fault('draining', 'Could not go on: this process is stopping')
      for (const spend of running) spend.stop(reason)
    },
    spends: running,
    get running() {
      return running.size
    },
    get activity() {
      return billing.indirect.activity
    },
    billed() {
      let total = billing.settled
      for (const spend of running) total = addBilled(total, spend.billed)
      return total
    },
    billedGpu() {
      const totals = new Map(billing.settledGpu)
      for (const spend of running) addByCell(totals, spend.billedGpu)
      return totals
    },
  }
}
