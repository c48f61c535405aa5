// Admits what moving an object's bytes may cost at most. The caller pays; where nobody asks by name (a
// public bucket, a website), its owner does. Hashing (MD5, SHA-256, a CRC), copying and writing took 4 ms
// of CPU a MiB, 14 mJ at 3.5 W; the ceiling leaves five times that for a loaded machine.
import { nj, type Nj } from '#base/units.ts'
import type { Payer } from '#charging/spend.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Bucket } from '#objects/types.ts'
import type { StorageRequest } from '#s3/call.ts'

const BASE_NJ = 1_000_000_000n
const NJ_PER_MIB = 75_000_000n

/**
 * For who was judged, and may do it: the request then has the time that an object takes. A stranger counts
 * among those of the owner. Throws balance_depleted, free_tier_exceeded, too_many_requests, state_unavailable.
 */
export type AdmitTransfer = (
  request: StorageRequest,
  bucket: Bucket,
  bytes: number,
) => Promise<void>

export function createAdmitTransfer(deps: {
  payerOf: (account: string) => Payer | Promise<Payer>
}): AdmitTransfer {
  return async ({ who, spend, arriveAsStranger, body: { match, prolong } }, bucket, bytes) => {
    if (who === undefined) arriveAsStranger(bucket.account)
    const payer = who ?? (await deps.payerOf(bucket.account))
    await spend.admit(payer, `storage.${match.operation}` as OperationName, ceilingOf(bytes))
    prolong()
  }
}

const ceilingOf = (bytes: number): Nj =>
  nj(BASE_NJ + BigInt(Math.ceil(bytes / 1_048_576)) * NJ_PER_MIB)
