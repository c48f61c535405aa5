// The parts that the work of a pack uses, its order, and the errors that end it.
import type { TimerClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { Nj } from '#base/units.ts'
import type { OpenBlobStores } from '#blobs/stores.ts'
import type { WorkSpend } from '#charging/during.ts'
import type { Payer, Spend } from '#charging/spend.ts'
import type { ReceiptStore } from '#receipts/store.ts'
import type { State } from '#state/connect.ts'

export type PackWork = {
  readonly state: State
  readonly receipts: ReceiptStore
  readonly stores: OpenBlobStores
  readonly charging: { open(): WorkSpend & Pick<Spend, 'settleAtTurnEnd'> }
  /** Resolves when the ledger has all charges that this process made before the call. */
  readonly postCharges: (signal: AbortSignal) => Promise<void>
  readonly payerOf: (account: string) => Payer | Promise<Payer>
  readonly clock: TimerClock
  /** Resolves after a time; rejects with the signal's reason when it is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Receipts of a page, and of a file of receipts. */
  readonly pageReceipts: number
  readonly log: Logger
}

/** A pack that is due. */
export type DuePack = {
  readonly id: string
  readonly account: string
  readonly from: Date
  readonly to: Date
  readonly ceilingNj: Nj
}

/** A reason that the account may read. */
export class PackFault extends TypeError {
  override name = 'PackFault'
}

/** The pack cannot be made yet. */
export class NotSettled extends TypeError {
  override name = 'NotSettled'
}
