// Proves bundles again, one after the other, for ever: a damaged one raises an alarm.
import { messageOf } from '#base/errors.ts'
import { alarmOfDamage } from '#ledger/bundles/damage.ts'
import type { BundledCharge } from '#ledger/bundles/bundled-charge.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { Shard } from '#receipts/store.ts'
import { bundleCharges, bundleFault, type BundleRow } from './prove-bundle.ts'
import { sealedLeaves } from './sealed-leaves.ts'

const NEXT = `select p.* from charge_bundles p, bundle_round r
  where (p.account, p.first_seq) > (r.account, r.first_seq) order by p.account, p.first_seq limit 1`

/** Proves the next bundle of the round; false at the end of a round, at which the sums of all bundles are compared. */
export async function proveNext(state: State): Promise<boolean> {
  const { rows } = await state.query<BundleRow>(NEXT)
  const [row] = rows
  if (row === undefined) {
    const faults = await state.query<{ account: string; detail: string }>(
      'select * from bundle_faults()',
    )
    for (const { account, detail } of faults.rows)
      await alarmOfDamage(state, { account, firstSeq: null }, detail)
    await state.query("update bundle_round set account = '', first_seq = 0, proven_at = now()")
    return false
  }
  const why = await faultOf(state, row, await createSqlReceiptStore(state).shards())
  const { account, first_seq: firstSeq } = row
  if (why !== undefined) await alarmOfDamage(state, { account, firstSeq }, why)
  await state.query('update bundle_round set account = $1, first_seq = $2', [account, firstSeq])
  return true
}

async function faultOf(
  state: Queryable,
  row: BundleRow,
  shards: readonly Shard[],
): Promise<string | undefined> {
  let charges: BundledCharge[]
  try {
    charges = bundleCharges(row)
  } catch (error) {
    return messageOf(error)
  }
  const leaves = charges.map(({ leafIndex }) => leafIndex)
  return bundleFault(row, charges, await sealedLeaves(state, shards, leaves))
}
