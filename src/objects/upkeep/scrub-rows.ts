// Reads inline bodies and annotations again. PostgreSQL compares the checksum of each page that it reads from disk,
// so reading finds a changed page (an error, which is logged). Bodies without encryption and parts are also compared
// with their MD5, which finds changes above the disk.
import { isOfPage, type RowDamage } from '#objects/damage.ts'
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
  /** Awaited with the error of a row that cannot be read, before the place moves on. */
  onUnreadable(error: unknown): Promise<void>
}

/**
 * Reads about `bytesMax` bytes of bodies and rows, from where the last call ended; `done` says that a round over all
 * rows has ended. A row that cannot be read is stepped over; at the end the call throws PostgreSQL's error for it.
 */
export async function scrubRows<D extends object = RowDamage>(
  state: Queryable,
  pass: RowPass,
  scrub: RowScrub<D>,
): Promise<{ read: number; done: boolean }> {
  const { task, beginning, rowsMax } = pass
  const saved = await loadPlace(state, task)
  let place = saved === undefined ? beginning : (JSON.parse(saved) as RowPass['beginning'])
  let read = 0
  let leftBytes = scrub.bytesMax
  const errors: unknown[] = []
  for (;;) {
    scrub.signal.throwIfAborted()
    const page = await readPage<D>(state, pass, { place, scrub, errors })
    const damaged: D[] = []
    for (const { size, damage } of page.rows) {
      read += size
      leftBytes -= Math.max(size, ROW_BYTES_MIN)
      if (damage !== null) damaged.push(damage)
    }
    if (damaged.length > 0) await scrub.onDamage(damaged)
    place = page.last
    const done = page.count < rowsMax
    if (!done && leftBytes > 0) continue
    await savePlace(state, task, done ? undefined : JSON.stringify(place))
    if (errors.length > 0) throw errors[0]
    return { read, done }
  }
}

/** `count` has the rows that were stepped over, too. */
type RowPage<D> = {
  readonly rows: readonly ReadRow<D>[]
  readonly last: RowPass['beginning']
  readonly count: number
}

type PageStart<D> = {
  readonly place: RowPass['beginning']
  readonly scrub: RowScrub<D>
  readonly errors: unknown[]
}

async function readPage<D extends object>(
  state: Queryable,
  pass: RowPass,
  start: PageStart<D>,
): Promise<RowPage<D>> {
  const { place } = start
  try {
    const { rows } = await state.query<ReadRow<D>>(pass.next, [...place, pass.rowsMax])
    return { rows, last: rows.at(-1)?.place ?? place, count: rows.length }
  } catch (error) {
    if (!isOfPage(error)) throw error
    return await readAlone(state, pass, start)
  }
}

/** A page row by row: one damaged row must not hide those behind it. */
async function readAlone<D extends object>(
  state: Queryable,
  { next, rowsMax }: RowPass,
  { place, scrub, errors }: PageStart<D>,
): Promise<RowPage<D>> {
  const read: ReadRow<D>[] = []
  let last = place
  for (let count = 0; count < rowsMax; count++) {
    scrub.signal.throwIfAborted()
    try {
      const { rows } = await state.query<ReadRow<D>>(next, [...last, 1])
      const [row] = rows
      if (row === undefined) return { rows: read, last, count }
      read.push(row)
      last = row.place
    } catch (error) {
      if (!isOfPage(error)) throw error
      await scrub.onUnreadable(error)
      errors.push(error)
      // PostgreSQL computes no column that is not asked for, so this reads no body.
      const { rows } = await state.query<Pick<ReadRow<D>, 'place'>>(
        `select place from (${next}) unread`,
        [...last, 1],
      )
      const [row] = rows
      if (row === undefined) return { rows: read, last, count }
      last = row.place
    }
  }
  return { rows: read, last, count: rowsMax }
}
