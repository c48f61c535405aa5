// The power of accounts by service. Each joule counts in one second: the use of running requests of this gateway since
// the last reading, then the rest of each new charge. Cells have their shares of the meter's last window.
import type { Charging } from '#charging/charging.ts'
import { cellOperationOf } from '#contract/ledger/cell-operation.ts'
import { serviceOf } from '#contract/operations.ts'
import type { WindowRecord } from '#metering/window-record.ts'
import { resourceOfCell } from '#ledger/budgets.ts'
import type { NewCharges } from './read-accounts.ts'

/** Microwatts by account and service. */
export type Power = Map<string, Map<string, number>>
/** A cell of an account in the meter's last window. */
export type AccountCellPower = {
  readonly account: string
  readonly service: string
  readonly resource: string
  readonly microwatts: number
}

/** A window that is older says nothing of now. */
const WINDOW_S_MAX = 5
/** An ended request whose charge does not come is forgotten after this time. */
const TOLD_MS = 60_000
const ELAPSED_MS_MIN = 100
/** Charges of minutes and days are no power of a second: cells have their windows, stored bytes draw almost nothing. */
const STANDING = /\.standing$/

export interface PowerMeter {
  /** Energy that was reported of running requests, by receipt. */
  readonly reported: ReadonlyMap<string, bigint>
  /** The mean power since the last reading. */
  read(reading: {
    readonly accounts: ReadonlySet<string>
    readonly charged: readonly NewCharges[]
    readonly cells: readonly AccountCellPower[]
    /** Spans of time are by this: the wall clock may be set. */
    readonly monotonicMs: number
  }): Power
}

export function createPowerMeter(charging: Pick<Charging, 'spends'>): PowerMeter {
  const reported = new Map<string, bigint>()
  const seenMs = new Map<string, number>()
  let lastMs = 0
  let before: ReadonlySet<string> = new Set()
  return {
    reported,
    read({ accounts, charged, cells, monotonicMs }) {
      const power: Power = new Map()
      const elapsedMs = Math.max(ELAPSED_MS_MIN, monotonicMs - lastMs)
      lastMs = monotonicMs
      const add = (account: string, service: string, microwatts: number) => {
        const own = power.get(account) ?? new Map<string, number>()
        power.set(account, own.set(service, (own.get(service) ?? 0) + microwatts))
      }
      for (const spend of charging.spends) {
        const account = spend.payer?.account
        if (account === undefined || !accounts.has(account)) continue
        const measured = spend.measured()
        const sinceNj = measured - (reported.get(spend.receiptId) ?? 0n)
        // At the first reading of an account it is not known when that was used.
        if (before.has(account))
          add(account, serviceOf(spend.operation), Number(sinceNj) / elapsedMs)
        reported.set(spend.receiptId, measured)
        seenMs.set(spend.receiptId, monotonicMs)
      }
      for (const { account, operation, unreportedNj, reported: known } of charged) {
        if (!STANDING.test(operation))
          add(account, serviceOf(operation), Number(unreportedNj) / elapsedMs)
        for (const id of known) forget(id)
      }
      for (const [id, ms] of seenMs) if (monotonicMs - ms > TOLD_MS) forget(id)
      for (const { account, service, microwatts } of cells)
        if (accounts.has(account)) add(account, service, microwatts)
      before = accounts
      return power
    },
  }

  function forget(id: string): void {
    reported.delete(id)
    seenMs.delete(id)
  }
}

/** The cells of accounts in a window, unless it is old. */
export function cellsIn(bytes: Uint8Array | undefined, nowMs: number): AccountCellPower[] {
  if (bytes === undefined) return []
  const window = JSON.parse(Buffer.from(bytes).toString('utf8')) as WindowRecord
  if (nowMs / 1000 - Number(window.k) > WINDOW_S_MAX) return []
  const elapsedMs = Number(window.elapsed_ns) / 1_000_000
  return window.shares.flatMap(({ name, account, dynamic_nj: dynamic, idle_nj: idle }) =>
    account === undefined
      ? []
      : {
          account,
          service: serviceOf(cellOperationOf(name)),
          resource: resourceOfCell(name),
          microwatts: (Number(dynamic) + Number(idle)) / elapsedMs,
        },
  )
}

/** Microwatts of the resources of an account: a resource may have several cells. */
export function resourcePower(
  cells: readonly AccountCellPower[],
  account: string,
): ReadonlyMap<string, number> {
  const by = new Map<string, number>()
  for (const { account: payer, resource, microwatts } of cells)
    if (payer === account) by.set(resource, (by.get(resource) ?? 0) + microwatts)
  return by
}
