// Lines that wait for delivery, in batches: one for each bucket, configuration and day. The bytes are bounded for
// each bucket and in total.
import { randomBytes } from 'node:crypto'
import { dayOf } from '#base/clock.ts'
import type { Bucket } from '#objects/types.ts'
import type { Logging } from './logging.ts'

const BATCH_BYTES = 1024 * 1024
const BUCKET_BYTES_MAX = 4 * BATCH_BYTES
const BYTES_MAX = 32 * BATCH_BYTES
/**
 * The limit for refused requests of a bucket in a round: their senders pay nothing, and the owner stores the lines.
 */
const REFUSED_BYTES_MAX = BATCH_BYTES
/** The cost of a batch besides its lines. */
const OVERHEAD_BYTES = 4096

/** The bucket of a line, without its configurations, which may be large. */
export type LogSource = Pick<Bucket, 'id' | 'name' | 'account' | 'region'>

export type LogEntry = {
  readonly bucket: LogSource
  readonly logging: Logging
  readonly line: string
  readonly timeMs: number
  /** The line is of a refused request. */
  readonly isRefused: boolean
}

/** The lines of one log object. */
export type LogBatch = Pick<LogEntry, 'bucket' | 'logging'> & {
  readonly lines: readonly string[]
  /** Bytes of the lines in the object. */
  readonly bytes: number
  /** The time of the first line. */
  readonly eventTimeMs: number
  /** Part of the key, so that a second try writes the same object. */
  readonly unique: string
}

/** A batch that still grows. */
type GrowingBatch = LogBatch & { readonly lines: string[]; bytes: number }

export interface Batches {
  /** Adds a line; false when there is no room. */
  add(entry: LogEntry): boolean
  /** True when a batch is full. */
  readonly hasFull: boolean
  /** All batches, or only the full ones; their bytes count until release(). */
  take(which: 'all' | 'full'): LogBatch[]
  /** Releases the memory of a batch. */
  letGo(batch: LogBatch): void
}

export function createBatches(): Batches {
  const growing = new Map<string, GrowingBatch>()
  const full: GrowingBatch[] = []
  /** Waiting bytes, by bucket and in total. */
  const byBucket = new Map<number, number>()
  /** Bytes of refused requests since the last round, by bucket. */
  const refused = new Map<number, number>()
  let bytesAll = 0

  function count({ id }: LogSource, bytes: number): void {
    const now = (byBucket.get(id) ?? 0) + bytes
    if (now === 0) byBucket.delete(id)
    else byBucket.set(id, now)
    bytesAll += bytes
  }

  return {
    add(entry) {
      const { bucket, logging, line, timeMs, isRefused } = entry
      const name = JSON.stringify([bucket.id, logging, dayOf(timeMs)])
      const known = growing.get(name)
      const bytes = bytesOf(line)
      const refusedBytes = (refused.get(bucket.id) ?? 0) + bytes
      if (isRefused && refusedBytes > REFUSED_BYTES_MAX) return false
      const taken = bytes + (known === undefined ? OVERHEAD_BYTES : 0)
      if (bytesAll + taken > BYTES_MAX) return false
      if ((byBucket.get(bucket.id) ?? 0) + taken > BUCKET_BYTES_MAX) return false
      if (isRefused) refused.set(bucket.id, refusedBytes)
      const batch = known ?? newBatch(entry)
      batch.lines.push(line)
      batch.bytes += bytes
      count(bucket, taken)
      if (batch.bytes < BATCH_BYTES) {
        growing.set(name, batch)
      } else {
        growing.delete(name)
        full.push(batch)
      }
      return true
    },
    get hasFull() {
      return full.length > 0
    },
    take(which) {
      const taken = full.splice(0)
      if (which === 'full') return taken
      taken.push(...growing.values())
      growing.clear()
      refused.clear()
      return taken
    },
    letGo({ bucket, bytes }) {
      count(bucket, -bytes - OVERHEAD_BYTES)
    },
  }
}

/** The bytes of a line with its line end. All characters are below U+0100, so a character takes one byte of memory. */
const bytesOf = (line: string): number => Buffer.byteLength(line) + 1

const newBatch = ({
  bucket: { id, name, account, region },
  logging,
  timeMs,
}: LogEntry): GrowingBatch => ({
  bucket: { id, name, account, region },
  logging,
  eventTimeMs: timeMs,
  unique: randomBytes(8).toString('hex').toUpperCase(),
  lines: [],
  bytes: 0,
})
