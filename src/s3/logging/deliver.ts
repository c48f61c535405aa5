// Writes a batch of log lines as an object of its target bucket, as the bucket's owner would. The write is no
// request: it is not logged, so a bucket may be its own target. The owner of the bucket pays for it.
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { WorkMeter } from '#charging/during.ts'
import type { Buckets, Objects } from '#objects/objects.ts'
import type { Bucket } from '#objects/types.ts'
import { commitBody } from '#s3/body/commit-body.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import { logKey } from './logging.ts'
import { defaultRetentionOf } from '#s3/lock/object-lock.ts'
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import { keptEncryption } from '#objects/encryption/encryption.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Deliver } from './access-log.ts'

export type DeliverDeps = {
  readonly buckets: Buckets
  readonly objects: Objects
  readonly receiver: Receiver
  readonly encrypting: Encrypting
  readonly clock: Clock
  /** Charges a delivery to the owner of the bucket. */
  readonly during: <T>(
    bucket: Bucket,
    work: (meter: WorkMeter, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ) => Promise<T>
}

export const createDeliver =
  ({ buckets, during, ...store }: DeliverDeps): Deliver =>
  async (batch, signal) => {
    const target = await targetOf(buckets, batch.bucket, batch.logging.bucket)
    // The account cannot pay for more stored bytes.
    if (target === undefined || target.isReadOnly) return false
    try {
      await during(target, (meter, ends) => put(store, { batch, target, meter }, ends), signal)
      return true
    } catch (error) {
      if (isDepleted(error)) return false
      throw error
    }
  }

async function put(
  { objects, receiver, encrypting, clock }: Omit<DeliverDeps, 'buckets' | 'during'>,
  { batch, target, meter }: { batch: Parameters<Deliver>[0]; target: Bucket; meter: WorkMeter },
  signal: AbortSignal,
): Promise<void> {
  const { bucket: source, logging, lines } = batch
  await receiver.admit()
  const bytes = Buffer.from(`${lines.join('\n')}\n`)
  const sealing = encrypting.byDefault(target)
  const bodyKey = encrypting.keyFor(sealing)
  const { size, etag, checksums, body } = await receiver.take(once(bytes), {
    length: bytes.length,
    bodyKey,
    isWhole: true,
    request: { signal },
  })
  meter.mark()
  const { account, region, name: sourceBucket } = source
  const object = {
    attributes: {
      size,
      etag,
      checksums,
      headers: { contentType: 'text/plain' },
      metadata: {},
      tags: {},
      acl: null,
      retention: defaultRetentionOf(documentOf(target, 'object-lock'), clock.wallMs()),
      legalHold: null,
      encryption: keptEncryption(
        sealing?.encryption,
        body.kind === 'inline' ? bodyKey?.envelope : undefined,
      ),
      storageClass: 'STANDARD',
      owner: target.account,
    },
    body,
  }
  const key = logKey(logging, { ...batch, account, region, sourceBucket })
  await commitBody(objects, body, () => objects.put(target, key, object))
  meter.mark()
}

const isDepleted = (error: unknown): boolean =>
  error instanceof ErgonError &&
  (error.code === 'balance_depleted' || error.code === 'free_tier_exceeded')

/** The target bucket; undefined when it does not exist or belongs to another account by now. */
export async function targetOf(
  buckets: Buckets,
  source: Pick<Bucket, 'account'>,
  name: string,
): Promise<Bucket | undefined> {
  const target = await buckets.get(name).catch((error: unknown) => {
    if (error instanceof ErgonError && error.code === 'NoSuchBucket') return undefined
    throw error
  })
  return target?.account === source.account ? target : undefined
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
