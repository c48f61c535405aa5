// Reads again what is in rows: small bodies and annotations. PostgreSQL compares the checksum of each page that
// it reads from disk, so that reading alone finds a page that has changed (an error, which is logged); what is not
// encrypted and was not put together of parts is compared with its MD5 as well, which finds what was changed above
// the disk.
import type { Queryable, Row } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

export type RowDamage = {
  readonly bucket: number
  readonly key: string
  readonly version: string
  readonly found: string
}

/** One way through a table: what reads the next rows from a place, in the order of places. */
export type RowPass = {
  readonly task: string
  readonly beginning: readonly (string | number)[]
  /** `$1` and so on are the place, the one after them how many rows; `place` is that of each row, `size` its bytes. */
  readonly next: string
  /** How many rows are read at once. */
  readonly rowsMax: number
}

type Read = Row & { place: RowPass['beginning']; size: number; damage: RowDamage | null }

/** The bodies of versions, by bucket, key, and seq from the newest. */
export const BODIES: RowPass = {
  task: 'scrub:rows',
  // Of 32 KiB at most, or with none: its body is in blobs.
  rowsMax: 200,
  // Greater than any seq: all versions of the keys after ''.
  beginning: [0, '', '9223372036854775807'],
  next: `select json_build_array(bucket, key, seq::text) as place, coalesce(octet_length(inline), 0) as size,
  case when encryption is null and part_count = 0 and etag <> md5(inline)
    then json_build_object('bucket', bucket, 'key', key, 'version', version_id, 'found', md5(inline)) end as damage
from object_versions
where (bucket, key) >= ($1, $2) and ((bucket, key) > ($1, $2) or seq < $3)
order by bucket, key, object_versions.seq desc limit $4`,
}

/** Annotations, which are all encrypted, by sheet and name. Only a digest reads them: their length is known without. */
export const ANNOTATIONS: RowPass = {
  task: 'scrub:annotations',
  // Of 1 MiB at most.
  rowsMax: 16,
  beginning: ['-9223372036854775808', ''],
  next: `select json_build_array(sheet::text, name) as place,
  case when md5(body) is not null then octet_length(body) end as size, null as damage
from object_annotations
where (sheet, name) > ($1, $2) order by sheet, name limit $3`,
}

/** What a row takes at least: without it, a million rows with bodies in blobs would be read each minute. */
const ROW_BYTES_MIN = 1024

/**
 * Reads on from where the last call ended, about `bytesMax` bytes of bodies and rows, and answers what is damaged; `done` says
 * that a round over all rows has ended. Throws what PostgreSQL says of a page that it cannot read.
 */
export async function scrubRows(
  state: Queryable,
  { task, beginning, next, rowsMax }: RowPass,
  { bytesMax, signal }: { bytesMax: number; signal: AbortSignal },
): Promise<{ read: number; damaged: RowDamage[]; done: boolean }> {
  const saved = await loadPlace(state, task)
  let place = saved === undefined ? beginning : (JSON.parse(saved) as RowPass['beginning'])
  const damaged: RowDamage[] = []
  let read = 0
  let leftBytes = bytesMax
  for (;;) {
    signal.throwIfAborted()
    const { rows } = await state.query<Read>(next, [...place, rowsMax])
    for (const { size, damage } of rows) {
      read += size
      leftBytes -= Math.max(size, ROW_BYTES_MIN)
      if (damage !== null) damaged.push(damage)
    }
    place = rows.at(-1)?.place ?? place
    const done = rows.length < rowsMax
    if (!done && leftBytes > 0) continue
    await savePlace(state, task, done ? undefined : JSON.stringify(place))
    return { read, damaged, done }
  }
}
