// Reads inline bodies and annotations again. PostgreSQL compares the checksum of each page that it reads from disk,
// so reading finds a changed page (an error, which is logged). Bodies without encryption and parts are also compared
// with their MD5, which finds changes above the disk.
import type { RowDamage } from '#objects/damage.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

/** A walk through a table: the query of the next rows, in order, and `damage` of each that has one. */
export type RowPass = {
  /** The name of its place, which is kept from one call to the next. */
  readonly task: string
  readonly beginning: readonly (string | number)[]
  /**
   * The first parameters are the position, the next is the number of rows; each row has `place`, `size` in bytes, and
   * `damage`.
   */
  readonly next: string
  /** Rows of one query. */
  readonly rowsMax: number
}

type ReadRow<D> = SqlRow & { place: RowPass['beginning']; size: number; damage: D | null }

/** The bodies of versions, by bucket, key, and seq from the newest. */
export const BODIES: RowPass = {
  task: 'scrub:rows',
  // At most 32 KiB, or without a body in the row.
  rowsMax: 200,
  // Greater than any seq: all versions of the keys after ''.
  beginning: [0, '', '9223372036854775807'],
  next: `select json_build_array(bucket, key, seq::text) as place, coalesce(octet_length(inline), 0) as size,
  case when encryption is null and part_count = 0 and etag not like '%-%' and etag <> md5(inline)
    then json_build_object('bucket', bucket, 'key', key, 'version', version_id, 'found', md5(inline)) end as damage
from object_versions
where (bucket, key) >= ($1, $2) and ((bucket, key) > ($1, $2) or seq < $3)
order by bucket, key, object_versions.seq desc limit $4`,
}

/** Annotations, by sheet and name. All are encrypted; only a digest reads them, as their length is known without. */
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

/** The least cost of a row: without it a million rows with bodies in blobs would be read each minute. */
export const ROW_BYTES_MIN = 1024

export type RowScrub<D> = {
  readonly bytesMax: number
  readonly signal: AbortSignal
  /** Awaited with the damage of each page, before the place moves on: a failure here finds the same damage again. */
  onDamage(damaged: readonly D[]): Promise<void>
}

/**
 * Reads about `bytesMax` bytes of bodies and rows, from where the last call ended; `done` says that a round over all
 * rows has ended. Throws PostgreSQL's error for an unreadable page.
 */
export async function scrubRows<D extends object = RowDamage>(
  state: Queryable,
  { task, beginning, next, rowsMax }: RowPass,
  { bytesMax, signal, onDamage }: RowScrub<D>,
): Promise<{ read: number; done: boolean }> {
  const saved = await loadPlace(state, task)
  let place = saved === undefined ? beginning : (JSON.parse(saved) as RowPass['beginning'])
  let read = 0
  let leftBytes = bytesMax
  for (;;) {
    signal.throwIfAborted()
    const { rows } = await state.query<ReadRow<D>>(next, [...place, rowsMax])
    const damaged: D[] = []
    for (const { size, damage } of rows) {
      read += size
      leftBytes -= Math.max(size, ROW_BYTES_MIN)
      if (damage !== null) damaged.push(damage)
    }
    if (damaged.length > 0) await onDamage(damaged)
    place = rows.at(-1)?.place ?? place
    const done = rows.length < rowsMax
    if (!done && leftBytes > 0) continue
    await savePlace(state, task, done ? undefined : JSON.stringify(place))
    return { read, done }
  }
}
