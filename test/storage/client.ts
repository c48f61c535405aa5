// The AWS SDK as the client of a part, with the buckets that its tests share.
import { after, before } from 'node:test'
import {
  CreateBucketCommand,
  type CreateBucketCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'

/** The id of a version that no object has. */
export const NOWHERE = `0${'1'.repeat(31)}`

type Opened = { readonly ergon: Ergon; readonly s3: S3Client }

/** Opens a client for the tests of a part, which pays for these buckets, and closes it after them. */
export function withClient(
  opened: (client: Opened) => void,
  ...buckets: readonly CreateBucketCommandInput[]
): void {
  let s3: S3Client
  before(async () => {
    const ergon = sharedErgon()
    s3 = s3ClientOf(ergon)
    opened({ ergon, s3 })
    for (const bucket of buckets) await s3.send(new CreateBucketCommand(bucket))
  })
  after(() => s3.destroy())
}
