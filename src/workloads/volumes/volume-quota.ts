// The bytes that the volumes of an account may have together. Their disk is promised whole, so that no full volume is a fault
// of another; without a quota one account could have all of it, for nothing.
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'

const BYTES_PER_MB = 1_000_000

/**
 * Begins a change of an account's volumes in a transaction: other changes of them wait for its end. The result is called
 * after the change, and throws volume_quota_exceeded where that has made them larger than an account may have.
 */
export async function volumeQuota(
  transaction: Queryable,
  account: string,
  { volumeBytesMax: most }: Pick<WorkloadGatewaySettings, 'volumeBytesMax'>,
): Promise<() => Promise<void>> {
  const before = await volumeBytes(transaction, account)
  return async () => {
    const after = await volumeBytes(transaction, account)
    // A quota that was lowered since takes nothing away.
    if (after <= most || after <= before) return
    throw fault(
      'volume_quota_exceeded',
      `Could not have the volumes: those of the account have ${mb(before)} of ${mb(most)}, and would have ${mb(after)}`,
      { param: 'volumes' },
    )
  }
}

async function volumeBytes(transaction: Queryable, account: string): Promise<number> {
  const { rows } = await transaction.query<{ bytes: string }>(
    'select account_volume_bytes($1)::text as bytes',
    [account],
  )
  return Number(rows[0]?.bytes)
}

const mb = (bytes: number): string => `${Math.ceil(bytes / BYTES_PER_MB)} MB`
