// The bucket that was meant where the named one is not there, among those that the token can list.
import { ListBucketsCommand, type S3Client } from '@aws-sdk/client-s3'
import { didYouMean } from '#base/nearest.ts'

const ABSENT = 'NoSuchBucket'
const WAIT_MS = 5000

/** `did you mean "photos"?` for a refusal of such a bucket; undefined for others, where none is near, or none can be listed. */
export async function nearBucket(
  s3: S3Client,
  error: unknown,
  named: string,
): Promise<string | undefined> {
  const { name, BucketName: bucket = named } = (error ?? {}) as {
    readonly name?: string
    readonly BucketName?: string
  }
  if (name !== ABSENT || bucket === '') return undefined
  const signal = AbortSignal.timeout(WAIT_MS)
  const listed = await s3
    .send(new ListBucketsCommand({}), { abortSignal: signal })
    .catch(() => undefined)
  return didYouMean(
    bucket,
    (listed?.Buckets ?? []).flatMap(({ Name }) => Name ?? []),
  )
}
