// The AWS SDK as a client of an Ergon; the token is access key and secret unless a pair of keys is given.
import { S3Client, type S3ClientConfig, type S3ServiceException } from '@aws-sdk/client-s3'
import { isSilent } from './patient-fetch.ts'
import type { Ergon } from './start-ergon.ts'

const TRIES_MAX = 20
const RETRY_MS = 1000

/**
 * Asks once: a test wants to see the answer, not what comes of trying again. Only where the state was silent
 * it asks again, and never a stream.
 */
export const s3ClientOf = (
  { baseUrl, token }: Pick<Ergon, 'baseUrl' | 'token'>,
  accessKeyId = token,
  secretAccessKey = accessKeyId,
): S3Client =>
  new S3Client({
    endpoint: baseUrl,
    region: 'local',
    forcePathStyle: true,
    retryStrategy: createPatience(),
    credentials: { accessKeyId, secretAccessKey },
  })

type RetryStrategy = Exclude<NonNullable<S3ClientConfig['retryStrategy']>, { retry: unknown }>
type RetryToken = Awaited<ReturnType<RetryStrategy['acquireInitialRetryToken']>>

/** Asks again after a second, twenty times, where the state was silent, and where `isPassing` says so. */
export function createPatience(
  isPassing: (error: S3ServiceException) => boolean = () => false,
): RetryStrategy {
  const token = (count: number): RetryToken => ({
    getRetryCount: () => count,
    getRetryDelay: () => (count === 0 ? 0 : RETRY_MS),
  })
  return {
    acquireInitialRetryToken: async () => token(0),
    async refreshRetryTokenForRetry(last, { error }) {
      const answer = error as S3ServiceException
      const isWaitedFor =
        isSilent(answer.$metadata?.httpStatusCode ?? 0, String(error)) || isPassing(answer)
      const count = last.getRetryCount() + 1
      if (count >= TRIES_MAX || !isWaitedFor) throw error
      return token(count)
    },
    recordSuccess: () => undefined,
  }
}
