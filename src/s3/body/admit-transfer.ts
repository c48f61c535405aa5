// Reserves the highest cost of moving an object's bytes. The caller pays; for an anonymous caller (a public bucket, a
// website) the bucket's owner. Hashing (MD5, SHA-256, a CRC), copying and writing took 4 ms of CPU for each MiB, 14
// mJ at 3.5 W; the ceiling is five times that, for a loaded machine.
import { present } from '#base/errors.ts'
import { nj, type Nj } from '#base/units.ts'
import type { Payer } from '#charging/spend.ts'
import { fault } from '#contract/errors.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import type { Bucket } from '#objects/types.ts'
import type { StorageRequest } from '#s3/call.ts'

const BASE_NJ = 1_000_000_000n
const NJ_PER_MIB = 75_000_000n

/**
 * Called for an allowed request, which gets the deadline of a transfer. An anonymous caller counts towards the
 * owner's limit. Throws account_deleting for a write into a bucket of such an account, balance_depleted, free_tier_exceeded, too_many_requests, state_unavailable.
 */
export type AdmitTransfer = (
  request: StorageRequest,
  bucket: Bucket,
  bytes: number,
) => Promise<void>

/** The account of a bucket. */
type BucketOwner = Payer & { readonly isDeleting?: boolean }

export function createAdmitTransfer(deps: {
  payerOf: (account: string) => BucketOwner | Promise<BucketOwner>
}): AdmitTransfer {
  return async ({ caller, spend, arriveAsStranger, body: { match, prolong } }, bucket, bytes) => {
    if (caller === undefined) arriveAsStranger(bucket.account)
    const operation = `storage.${match.operation}` as OperationName
    const isWrite = operationOf(operation).scope !== 'read'
    // The owner's own writes were refused before.
    const isAsked = caller === undefined || (isWrite && caller.account !== bucket.account)
    const owner = isAsked ? await deps.payerOf(bucket.account) : undefined
    if (isWrite && owner?.isDeleting === true)
      throw fault('account_deleting', 'Could not write: the account of the bucket is being deleted')
    await spend.admit(
      caller ?? present(owner, 'a stranger is not the owner'),
      operation,
      ceilingOf(bytes),
    )
    prolong()
  }
}

const ceilingOf = (bytes: number): Nj =>
  nj(BASE_NJ + BigInt(Math.ceil(bytes / 1_048_576)) * NJ_PER_MIB)
