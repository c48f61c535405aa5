// What an account may not do any more whose balance does not pay for a week of what it stores.
import { fault } from '#contract/errors.ts'
import type { ListedBucket } from '#objects/objects.ts'
import type { S3OperationName } from './operations.ts'

/**
 * What adds bytes to a bucket. Reads, deletions and the completion of an upload go on to the end; so do
 * settings that keep others out, or that let objects expire.
 */
const STORES: ReadonlySet<string> = new Set<S3OperationName>([
  'put-object',
  'post-object',
  'copy-object',
  'create-multipart-upload',
  'upload-part',
  'upload-part-copy',
  'put-object-annotation',
  'put-object-tagging',
  'put-object-acl',
  'put-bucket-cors',
  'put-bucket-notification-configuration',
  'put-bucket-tagging',
  'put-bucket-website',
])

export const storesMore = (operation: S3OperationName): boolean => STORES.has(operation)

/** Throws balance_depleted where the bucket is read-only and the operation stores more. */
export function checkRoom(operation: S3OperationName, bucket: ListedBucket): void {
  if (bucket.isReadOnly && storesMore(operation))
    throw fault(
      'balance_depleted',
      'Could not store more: the balance no longer pays for a week of what is stored',
    )
}
