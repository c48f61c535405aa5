// The end of the whole records of a log that is unpacked: its last bytes may be a part of a record.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogPiece } from './plan.ts'
import { segmentName, segmentStart } from './wire.ts'

const PAGE_BYTES = 8192n
/** Headers of pages (XLogPageHeaderData): flags, and the bytes that are left of a record of an earlier page. */
const FLAGS_AT = 2
const LEFT_AT = 16
const CONTINUES = 1
const IS_LONG = 2
const HEADER_BYTES = 24
const LONG_HEADER_BYTES = 40
const ALIGNED = 8

/**
 * The end of a record in the last page of the log that has one: a recovery of the whole log reaches it. PostgreSQL ends a
 * recovery without a word where a log is made of two histories, and that is before it.
 */
export async function lastRecord(folder: string, log: readonly LogPiece[]): Promise<bigint> {
  const [first, end] = [log[0]?.begin ?? 0n, log.at(-1)?.end ?? 0n]
  for (let page = pageOf(end - 1n); page >= first; page -= PAGE_BYTES) {
    if (end - page < HEADER_BYTES) continue
    const timeline = log.findLast(({ begin }) => begin <= page)?.timeline ?? 1
    const at = page + (await leftOf(join(folder, segmentName(timeline, page)), page))
    // The record that fills the page, or ends behind the log, began in an earlier page.
    if (at <= end && at <= page + PAGE_BYTES) return at
  }
  return first
}

const pageOf = (position: bigint): bigint => position - (position % PAGE_BYTES)

/** The bytes from the begin of a page to the end of the record that the page continues; 0 where a record begins with the page. */
async function leftOf(path: string, page: bigint): Promise<bigint> {
  await using file = await open(path, 'r')
  const header = Buffer.alloc(HEADER_BYTES)
  await file.read(header, 0, HEADER_BYTES, Number(page - segmentStart(page)))
  const flags = header.readUInt16LE(FLAGS_AT)
  if ((flags & CONTINUES) === 0) return 0n
  const left = Math.ceil(header.readUInt32LE(LEFT_AT) / ALIGNED) * ALIGNED
  return BigInt(((flags & IS_LONG) === 0 ? HEADER_BYTES : LONG_HEADER_BYTES) + left)
}
