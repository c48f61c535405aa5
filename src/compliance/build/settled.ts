// A time is settled when all charges that end in it are in the ledger and signed. Charges of a process that was killed
// come when its journal is posted.
import { chargeRange, readCharges, type ChargeRange } from '#ledger/account-charges.ts'
import { openReceiptBatches, type ReceiptBatches } from '#receipts/batch.ts'
import type { Queryable } from '#state/connect.ts'
import { NotSettled, type DuePack, type PackWork } from './pack-work.ts'

/** A pack whose charges are all signed. */
export type SettledPack = {
  readonly pack: DuePack
  /** Undefined where the time has no charge. */
  readonly range: ChargeRange | undefined
  readonly batches: ReceiptBatches
}

/** Charges by the minute are made some seconds after its end. */
const GRACE_MS = 5000
/** A tick sets `until` to its own time and this. */
const TICK_MS = 2000

/** The charges of a pack, with those just before and after its time. Throws NotSettled. */
export async function settlePack(work: PackWork, pack: DuePack): Promise<SettledPack> {
  const { state, receipts } = work
  await demandPosted(state, pack)
  const batches = await openReceiptBatches(receipts)
  const range = await chargeRange(state, pack)
  if (range === undefined) return { pack, range, batches }
  const leafOf = async (number: bigint) => {
    const one = { first: number, last: number }
    return (await readCharges(state, pack.account, one, 1))[0]?.leafIndex
  }
  const isSealed = async (number: bigint) => batches.isSealed((await leafOf(number)) ?? Infinity)
  if (!(await isSealed(range.last)))
    throw new NotSettled('The receipts of the time are not signed yet')
  const { first, last } = range
  const after = (await isSealed(last + 1n)) ? 1n : 0n
  return { pack, batches, range: { first: first > 1n ? first - 1n : first, last: last + after } }
}

/** Throws NotSettled while a process may still post charges of the time. */
async function demandPosted(state: Queryable, { to }: DuePack): Promise<void> {
  const { rows } = await state.query<{ early: boolean; behind: string | null }>(
    `select ledger_now() < $1::timestamptz + $2 * interval '1 ms' as early,
       (select min(process) from sessions where closed_at is null and opened_at < $1
         and until < $1::timestamptz + ($2 + $3) * interval '1 ms') as behind`,
    [to, GRACE_MS, TICK_MS],
  )
  if (rows[0]?.early === true) throw new NotSettled('The time ended a moment ago')
  if (rows[0]?.behind !== null)
    throw new NotSettled(
      'Charges of the time can still come: a process has not reported since its end',
    )
}
