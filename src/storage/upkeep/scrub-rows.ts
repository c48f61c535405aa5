// Reads the bodies that are in rows again. PostgreSQL compares the checksum of each page that it reads from
// disk, so that reading alone finds a page that has changed (an error, which is logged); what is not encrypted
// and was not put together of parts is compared with its MD5 as well, which finds what was changed above the disk.
import type { Queryable, Row } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

export type RowDamage = {
  readonly bucket: number
  readonly key: string
  readonly version: string
  readonly found: string
}

const TASK = 'scrub:rows'
// Rows, each with 32 KiB at most, or with none: its body is in blobs.
const PAGE = 200
type Place = { readonly bucket: number; readonly key: string; readonly seq: string }
// Greater than any seq: all versions of the keys after ''.
const BEGINNING: Place = { bucket: 0, key: '', seq: '9223372036854775807' }

type Read = Row & {
  bucket: number
  key: string
  seq: string
  version_id: string
  size: number
  /** Of a body in the row, where its ETag is its MD5. */
  etag: string | null
  md5: string | null
}

const NEXT = `select bucket, key, seq, version_id, coalesce(octet_length(inline), 0) as size,
  md5(inline) as md5,
  case when inline is not null and encryption is null and part_count = 0 then etag end as etag
from object_versions
where (bucket, key) >= ($1, $2) and ((bucket, key) > ($1, $2) or seq < $3)
order by bucket, key, seq desc limit $4`

/**
 * Reads on from where the last call ended, about `bytesMax` bytes, and answers what is damaged; `done` says
 * that a round over all rows has ended. Throws what PostgreSQL says of a page that it cannot read.
 */
export async function scrubRows(
  state: Queryable,
  { bytesMax, signal }: { bytesMax: number; signal: AbortSignal },
): Promise<{ read: number; damaged: RowDamage[]; done: boolean }> {
  const saved = await loadPlace(state, TASK)
  let place = saved === undefined ? BEGINNING : (JSON.parse(saved) as Place)
  const damaged: RowDamage[] = []
  let read = 0
  for (;;) {
    signal.throwIfAborted()
    const { rows } = await state.query<Read>(NEXT, [place.bucket, place.key, place.seq, PAGE])
    for (const { bucket, key, version_id: version, etag, md5 } of rows)
      if (etag !== null && md5 !== null && etag !== md5)
        damaged.push({ bucket, key, version, found: md5 })
    read += rows.reduce((sum, { size }) => sum + size, 0)
    const last = rows.at(-1)
    if (last !== undefined) place = { bucket: last.bucket, key: last.key, seq: last.seq }
    const done = rows.length < PAGE
    if (!done && read < bytesMax) continue
    await savePlace(state, TASK, done ? undefined : JSON.stringify(place))
    return { read, damaged, done }
  }
}
