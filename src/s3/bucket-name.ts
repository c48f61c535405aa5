// The rules of bucket names (AWS, "General purpose buckets naming rules", and paths of the API).
import { storageFault } from '#contract/storage/storage-errors.ts'

/**
 * First path segments of the API and first labels of the service's hosts, which no bucket may have as its name; shorter
 * names are invalid anyway.
 */
const RESERVED: ReadonlySet<string> = new Set([
  'healthz',
  'readyz',
  'metrics',
  'portal',
  'status',
  'website',
  'console',
  'mesh',
  'functions',
])

const LABELS = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/
const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/
const AFFIXES = /^(?:xn--|sthree-|amzn-s3-demo-)|(?:-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$/

export const isBucketName = (name: string): boolean =>
  name.length >= 3 &&
  name.length <= 63 &&
  LABELS.test(name) &&
  !ADDRESS.test(name) &&
  !AFFIXES.test(name) &&
  !RESERVED.has(name)

/** For CreateBucket. Throws InvalidBucketName. */
export function checkBucketName(name: string): void {
  if (!isBucketName(name)) throw storageFault('InvalidBucketName', undefined, { BucketName: name })
}
