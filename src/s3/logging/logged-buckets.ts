// Finds the logging configuration of buckets whose requests were refused before the bucket was found. Senders of
// refused requests pay nothing, so the queries are bounded: an answer is cached for seconds, and four run at once.
// Further requests are not logged.
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Buckets } from '#objects/objects.ts'
import { isBucketName } from '#s3/bucket-name.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { LogEntry } from './batches.ts'

const KEPT_MS = 5000
const KEPT_MAX = 1000
const LOOK_UPS_MAX = 4

export type LoggedBucket = Pick<LogEntry, 'bucket' | 'logging'>

export interface LoggedBuckets {
  /** The bucket and its logging configuration; undefined when there is none, or too many look-ups run. */
  find(name: string): Promise<LoggedBucket | undefined>
}

export function createLoggedBuckets(deps: {
  buckets: Pick<Buckets, 'get'>
  clock: Clock
}): LoggedBuckets {
  const { buckets, clock } = deps
  type KeptBucket = { readonly found: Promise<LoggedBucket | undefined>; readonly untilMs: number }
  const kept = new Map<string, KeptBucket>()
  let lookUps = 0

  async function lookUp(name: string): Promise<LoggedBucket | undefined> {
    lookUps++
    try {
      const { configurations, ...bucket } = await buckets.get(name)
      const logging = documentOf({ configurations }, 'logging')
      return logging && { bucket, logging }
    } catch (error) {
      if (error instanceof ErgonError && error.code === 'NoSuchBucket') return undefined
      kept.delete(name)
      throw error
    } finally {
      lookUps--
    }
  }

  return {
    async find(name) {
      const known = kept.get(name)
      if (known !== undefined && known.untilMs > clock.monotonicMs()) return await known.found
      if (lookUps >= LOOK_UPS_MAX || !isBucketName(name)) return undefined
      if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value ?? '')
      const found = lookUp(name)
      kept.set(name, { found, untilMs: clock.monotonicMs() + KEPT_MS })
      return await found
    },
  }
}
