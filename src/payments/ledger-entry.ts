// The types of a page of the ledger.
import type { LedgerKind } from '#contract/payments/payments.ts'

export type LedgerFilter = {
  readonly account: string
  /** Null: no bound. */
  readonly from: Date | null
  readonly to: Date | null
  /** Operations of the charges; null: all. */
  readonly operations: readonly string[] | null
  readonly kind: LedgerKind | null
}

/** The last entry that was given, and the newest that a walk has. */
export type LedgerPosition = {
  /** The time with microseconds. */
  readonly at: string
  /** Transfers are newer than charges of the same time. */
  readonly rank: 0 | 1
  readonly number: string
  readonly chargeMax: string
  readonly transferMax: string
}

export type LedgerRow = {
  readonly at: Date
  readonly at_us: string
  readonly rank: 0 | 1
  readonly number: string
  readonly id: string
  readonly kind: LedgerKind
  readonly amount: string
  readonly operation: string | null
  readonly model: string | null
  readonly energy: string | null
  readonly reference: string | null
  /** The bytes of a charge. */
  readonly charge: Buffer | null
}
