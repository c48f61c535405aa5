// The AWS SDK as a client of an Ergon; the token is access key and secret unless a pair of keys is given.
import { S3Client } from '@aws-sdk/client-s3'
import type { Ergon } from './start-ergon.ts'

/** Asks once: a test wants to see the answer, not what comes of trying again. */
export const s3ClientOf = (
  { baseUrl, token }: Pick<Ergon, 'baseUrl' | 'token'>,
  accessKeyId = token,
  secretAccessKey = accessKeyId,
): S3Client =>
  new S3Client({
    endpoint: baseUrl,
    region: 'local',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey },
  })
