// The buckets of an account with their stored bytes.
import { z } from 'zod'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'

export const storedBucket = z.object({
  name: z.string(),
  region: z.string(),
  /** Of objects, their versions, parts of open uploads and documents, as they are charged. */
  stored_bytes: z.int().min(0),
  /** Versions of objects, delete markers too. */
  versions: z.int().min(0),
  /** Uploads in parts that are open. */
  uploads: z.int().min(0),
  created_at: z.iso.datetime(),
})
export type StoredBucket = z.infer<typeof storedBucket>

export const storedBucketsQuery = z.object(pageQuery)

/** Buckets in the order of their names. */
export const storedBuckets = listPageOf(storedBucket)
