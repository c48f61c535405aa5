// Blobs: immutable byte strings that rows of the state name. No names, no versions, no access rules:
// those are objects/. A blob is durable before put() resolves, and is never changed after it.
import type { Readable } from 'node:stream'

/** Where a blob is. `location` names a store (`fs`, or the name of an upstream); `size` is in bytes. */
export type BlobRef = { readonly location: string; readonly id: string; readonly size: number }

/** A blob with the checksum of its stored bytes, as checksum.ts writes it. */
export type NewBlob = BlobRef & { readonly checksum: string }

/** Bytes `first` to `last`, both inclusive, as in RFC 9110 §14.1.2. */
export type ByteRange = { readonly first: number; readonly last: number }

export type PutOptions = {
  readonly signal: AbortSignal
  /** The greatest size accepted; more throws `body_too_large`. */
  readonly sizeMax: number
  /** A name of its own (a lower-case UUID) for a copy from another location; by default a new one. */
  readonly id?: string
}

export interface BlobStore {
  readonly location: string
  /**
   * Checks that tenants may write now, also outside this store on the same disk. Throws `storage_full`,
   * `storage_fenced`.
   */
  admit(): Promise<void>
  /**
   * Stores a body; when it resolves the bytes survive a power cut. Throws `storage_full` (507) and
   * `storage_fenced` (503), also in the midst of a body, `body_too_large` (413), the body's own error, or the
   * signal's reason; then nothing is stored, or an orphan that the sweeper finds.
   */
  put(body: AsyncIterable<Buffer>, options: PutOptions): Promise<NewBlob>
  /**
   * Opens a blob, all of it or a range, with back-pressure. Throws `blob_missing` or `blob_damaged`; the stream too
   * ends with `blob_damaged` before it gives bytes whose checksum does not fit. Blobs with the older form of
   * checksum are checked where all of them is read, at their last bytes.
   */
  get(blob: NewBlob, options: { signal: AbortSignal; range?: ByteRange }): Promise<Readable>
  /** Removes a blob; one that is not there is none. */
  delete(ref: Pick<BlobRef, 'id'>, signal: AbortSignal): Promise<void>
  /** The stored size and age of a blob, or undefined when there is none. */
  stat(id: string, signal: AbortSignal): Promise<BlobStat | undefined>
  /** The blobs whose id begins with two hex digits, in no order; also those that no row names. */
  list(shard: string, signal: AbortSignal): AsyncIterable<BlobStat>
  /** Why nothing can be written any more (for readiness), or undefined. */
  fenced(): string | undefined
}

/** 00 to ff: blobs lie in 256 folders, by the first two digits of their id. */
export const SHARDS: readonly string[] = Array.from({ length: 256 }, (_, shard) =>
  shard.toString(16).padStart(2, '0'),
)

export type BlobStat = {
  readonly id: string
  readonly size: number
  /** When it was written, in milliseconds since 1970. */
  readonly writtenMs: number
}
