// Reads, writes and deletes a configuration that a bucket stores as a document. Each feature says how its document is
// parsed and printed.
import type { Receiver } from '#s3/body/receive.ts'
import type { Buckets } from '#objects/objects.ts'
import type { Directory } from '#s3/policy/acl-drafts.ts'
import type { Access } from '#s3/policy/access.ts'
import { storageFault, type StorageCode } from '#contract/storage/storage-errors.ts'
import type { Bucket, ConfigurationKind, Json } from '#objects/types.ts'
import type { StorageHandler } from '#s3/call.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { DOCUMENT_BYTES_MAX } from '#s3/xml/read.ts'

export type Configuration = {
  readonly kind: ConfigurationKind
  /** The error of a read when the bucket has none. */
  readonly absent: StorageCode
  /** Parses the document, and refuses what this bucket may not have. */
  readonly parse: (body: Buffer, bucket: Bucket) => unknown
  /** Refuses a document that names what does not exist. */
  readonly check?: (value: never, directory: Directory) => Promise<void>
  readonly print: (value: never) => string
  readonly contentType?: string
  /** The most bytes of the document as it is sent; DOCUMENT_BYTES_MAX where AWS names no limit. */
  readonly bytesMax?: number
  /** The value after a deletion; none by default. */
  readonly initial?: Json
  /** The status of a put; 200 except for the two configurations that AWS answers with 204. */
  readonly putStatus?: number
}

/** Throws the configuration's `absent` code when the bucket has none. */
export const getConfiguration =
  (
    { access }: { access: Access },
    { kind, absent, print, contentType }: Configuration,
  ): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const value = bucket.configurations[kind]
    if (value === undefined || value === null)
      throw storageFault(absent, undefined, { BucketName: bucket.name })
    const text = print(value as never)
    return { ...xmlReply(text), ...(contentType === undefined ? {} : { contentType }) }
  }

type PutParts = {
  readonly access: Access
  readonly buckets: Buckets
  readonly receiver: Receiver
  readonly directory: Directory
}

export const putConfiguration =
  (
    { access, buckets, receiver, directory }: PutParts,
    { kind, parse, check, bytesMax = DOCUMENT_BYTES_MAX, putStatus = 200 }: Configuration,
  ): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const body = await receiver.document(request, bytesMax)
    const value = parse(body, bucket)
    await check?.(value as never, directory)
    await buckets.configure(bucket, kind, value as Json)
    return emptyReply({}, putStatus)
  }

export const deleteConfiguration =
  (
    { access, buckets }: { access: Access; buckets: Buckets },
    { kind, initial = null }: Configuration,
  ): StorageHandler =>
  async (request) => {
    await buckets.configure(await access.bucket(request), kind, initial)
    return emptyReply({}, 204)
  }
