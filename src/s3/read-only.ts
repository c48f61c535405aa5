// An account whose balance does not pay for a week of its stored bytes can store no more.
import { fault } from '#contract/errors.ts'
import type { S3Operation } from '#contract/storage/s3-operations.ts'
import type { ListedBucket } from '#objects/objects.ts'

/** Throws balance_depleted where the bucket is read-only and the operation adds bytes. */
export function checkRoom({ effect }: Pick<S3Operation, 'effect'>, bucket: ListedBucket): void {
  if (bucket.isReadOnly && effect === 'store')
    throw fault(
      'balance_depleted',
      'Could not store more: the balance no longer pays for a week of what is stored',
    )
}
