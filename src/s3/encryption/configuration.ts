// The default encryption of a bucket.
import type { Configuration } from '#s3/buckets/configuration.ts'
import {
  BY_SERVICE,
  parseBucketEncryption,
  printBucketEncryption,
  type BucketEncryption,
} from './encryption.ts'

/** `encrypts`: new buckets encrypt by default, so a deletion returns to that default. */
export const bucketEncryption = ({ encrypts }: { encrypts: boolean }): Configuration => ({
  kind: 'encryption',
  absent: 'ServerSideEncryptionConfigurationNotFoundError',
  parse: parseBucketEncryption,
  print: (value: BucketEncryption) => printBucketEncryption(value),
  initial: encrypts ? BY_SERVICE : null,
})
