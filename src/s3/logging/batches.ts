// Lines that wait to be delivered, in batches: one for each bucket, configuration and day that they are of.
// Their bytes are bounded, for each bucket and for all.
import { randomBytes } from 'node:crypto'
import { dayOf } from '#base/clock.ts'
import type { Bucket } from '#objects/types.ts'
import type { Logging } from './logging.ts'

const BATCH_BYTES = 1024 * 1024
const BUCKET_BYTES_MAX = 4 * BATCH_BYTES
const BYTES_MAX = 32 * BATCH_BYTES
/** Of refused requests, for each bucket and round: who sends those pays for nothing, and the owner stores their lines. */
const REFUSED_BYTES_MAX = BATCH_BYTES
/** What a batch takes besides its lines, more than enough: what it is of, its name, its places in lists. */
const OVERHEAD_BYTES = 4096

/** What a line says of its bucket; its configurations may be large, so they do not wait with it. */
export type LogSource = Pick<Bucket, 'id' | 'name' | 'account' | 'region'>

export type LogEntry = {
  readonly bucket: LogSource
  readonly logging: Logging
  readonly line: string
  readonly timeMs: number
  /** Of a request that nobody let in. */
  readonly isRefused: boolean
}

/** Lines that go into one object. */
export type LogBatch = Pick<LogEntry, 'bucket' | 'logging'> & {
  readonly lines: readonly string[]
  /** Of the lines, as they are in the object. */
  readonly bytes: number
  /** Of its first line. */
  readonly eventTimeMs: number
  /** Names it, so that a second try writes the same object. */
  readonly unique: string
}

/** One that still grows. */
type Growing = LogBatch & { readonly lines: string[]; bytes: number }

export interface Batches {
  /** Keeps a line; false when there is no room. */
  add(entry: LogEntry): boolean
  /** Whether a batch is as large as one gets. */
  readonly hasFull: boolean
  /** All of them, or the full ones only; they count until they are let go. */
  take(which: 'all' | 'full'): LogBatch[]
  /** It takes no memory any more. */
  letGo(batch: LogBatch): void
}

export function createBatches(): Batches {
  const growing = new Map<string, Growing>()
  const full: Growing[] = []
  /** Bytes that wait, by bucket and all together. */
  const byBucket = new Map<number, number>()
  /** Bytes of refused requests since the last round of all, by bucket. */
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

/** With its end. As all characters are below U+0100, it takes no more in memory but for its place in the list. */
const bytesOf = (line: string): number => Buffer.byteLength(line) + 1

const newBatch = ({
  bucket: { id, name, account, region },
  logging,
  timeMs,
}: LogEntry): Growing => ({
  bucket: { id, name, account, region },
  logging,
  eventTimeMs: timeMs,
  unique: randomBytes(8).toString('hex').toUpperCase(),
  lines: [],
  bytes: 0,
})
