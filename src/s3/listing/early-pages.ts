// Asks for a page while the bucket is found and the request is judged: a list alone waits for one round trip to the state
// in place of two. Only callers whose last list of the bucket was allowed get this, so a refused caller makes the state
// work for nothing once at most.
import type { Bucket, BucketId } from '#objects/types.ts'
import type { StorageRequest } from '#s3/call.ts'
import type { Access } from '#s3/policy/access.ts'

/**
 * The bucket of an allowed request and the page that `ask` reads; `ask` may be called twice. Throws what `access.bucket`
 * throws, then what `ask` throws.
 */
export type EarlyPages = <T>(
  request: StorageRequest,
  ask: (bucket: BucketId) => Promise<T>,
) => Promise<{ bucket: Bucket; page: T }>

/** Callers and buckets that are remembered, the ids alone. */
const ALLOWED_MAX = 1000

export function createEarlyPages({ access }: { access: Pick<Access, 'bucket'> }): EarlyPages {
  /** The id of the bucket, by caller and name. */
  const allowed = new Map<string, number>()

  function remember(place: string, id: number): void {
    if (allowed.get(place) === id) return
    const [oldest] = allowed.keys()
    if (oldest !== undefined && allowed.size === ALLOWED_MAX) allowed.delete(oldest)
    allowed.set(place, id)
  }

  return async (request, ask) => {
    const { caller, body } = request
    if (caller === undefined) {
      const bucket = await access.bucket(request)
      return { bucket, page: await ask(bucket) }
    }
    const place = `${caller.account} ${body.target.bucket}`
    const id = allowed.get(place)
    const early = id === undefined ? undefined : ask({ id })
    // Without a listener its failure would end the process; that of the judge counts.
    early?.catch(() => undefined)
    const bucket = await access.bucket(request).catch((refusal: unknown) => {
      allowed.delete(place)
      throw refusal
    })
    remember(place, bucket.id)
    // A bucket that was made again has another id.
    const page = await (early !== undefined && bucket.id === id ? early : ask(bucket))
    return { bucket, page }
  }
}
