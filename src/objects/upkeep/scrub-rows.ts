// Reads tables block by block: small bodies and annotations again, and folders and keys for their check. PostgreSQL
// compares the checksum of each page that it reads from disk, so reading finds a changed page. Bodies without encryption
// and parts are also compared with their MD5, which finds changes above the disk.
import { type UnreadPlace, isOfPage, type RowDamage, SCRUB } from '#objects/damage.ts'
import type { Queryable } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

/**
 * A walk through a table. The bounds of both queries are `ctid >= $1 and ctid < $2`. Other conditions on the table are
 * outside of a materialized part: for them the planner may take an index, which leads to blocks outside of the bounds.
 */
export type RowPass = {
  /** The name of its place, which is kept from one call to the next. */
  readonly task: string
  readonly table: 'object_versions' | 'object_annotations' | 'object_folders'
  /** Blocks of one query. */
  readonly blocksMax: number
  /**
   * An object of each row: `size` in bytes, and `damage`, null where there is none. A row that the query left for the next
   * has its place in `unread`, and so have all behind that row.
   */
  readonly read: string
  /** `at`, the place of the row in its table, and `place`, its names; reads nothing that lies outside of the row. */
  readonly name: string
}

type ReadRow<D> = { readonly size: number; readonly damage: D | null; readonly unread?: string }
type NamedRow = { readonly at: string; readonly place: UnreadPlace }

/** The bodies of versions. */
export const BODIES: RowPass = {
  task: `${SCRUB}rows`,
  table: 'object_versions',
  // Some 200 rows of at most 32 KiB, or without a body in the row.
  blocksMax: 8,
  read: `select json_build_object('size', coalesce(octet_length(inline), 0), 'damage',
    case when encryption is null and part_count = 0 and etag not like '%-%' and etag <> md5(inline)
    then json_build_object('bucket', bucket, 'key', key, 'version', version_id, 'found', md5(inline)) end)
  from object_versions where ctid >= $1 and ctid < $2`,
  name: `select json_build_object('at', ctid, 'place',
    json_build_object('bucket', bucket, 'key', key, 'version', version_id))
  from object_versions where ctid >= $1 and ctid < $2`,
}

/** Bytes of annotations after which a query reads no further row. */
const ANNOTATION_BYTES = 1024 ** 2

/**
 * Annotations. All are encrypted; only a digest reads them, as their length is known without. A block may have 50 rows
 * of 1 MiB each, three times what a minute reads.
 */
export const ANNOTATIONS: RowPass = {
  task: `${SCRUB}annotations`,
  table: 'object_annotations',
  blocksMax: 1,
  read: `select case when a.earlier < ${ANNOTATION_BYTES}
    then json_build_object('size', case when md5(a.body) is not null then octet_length(a.body) end, 'damage', null)
    else json_build_object('size', 0, 'damage', null, 'unread', a.at) end
  from (
    select ctid as at, body, coalesce(sum(octet_length(body))
      over (order by ctid rows between unbounded preceding and 1 preceding), 0) as earlier
    from object_annotations where ctid >= $1 and ctid < $2
  ) a
  order by a.at`,
  name: `select json_build_object('at', ctid, 'place', json_build_object('sheet', sheet::text, 'annotation', name))
  from object_annotations where ctid >= $1 and ctid < $2`,
}

/** The least cost of a row: without it a million rows with bodies in blobs would be read each minute. */
export const ROW_BYTES_MIN = 1024
/** The block of PostgreSQL, as the least cost of a block, as many may have no rows any more. */
const BLOCK_BYTES = 8192

export type RowScrub<D> = {
  readonly bytesMax: number
  readonly signal: AbortSignal
  /** Awaited with the damage of each query, before the place moves on: a failure here finds the same damage again. */
  onDamage(damaged: readonly D[]): Promise<void>
  /** Awaited with the error of a row or a block that cannot be read, before the place moves on. A row has its names. */
  onUnreadable(error: unknown, place?: UnreadPlace): Promise<void>
}

/**
 * Reads about `bytesMax` bytes of bodies and rows, from where the last call ended; `done` says that a round over all
 * blocks has ended. A row or a block that cannot be read is stepped over; at the end the call throws PostgreSQL's first
 * error.
 */
export async function scrubRows<D extends object = RowDamage>(
  state: Queryable,
  pass: RowPass,
  scrub: RowScrub<D>,
): Promise<{ read: number; done: boolean }> {
  const { table, blocksMax } = pass
  const walk = createWalk<D>(state, pass, scrub)
  const blocks = await blocksOf(state, table)
  const placeName = placeNameOf(pass)
  let low = (await loadPlace(state, placeName)) ?? startOf(0)
  let read = 0
  let leftBytes = scrub.bytesMax
  for (;;) {
    const end = Math.min(blockOf(low) + blocksMax, blocks)
    let next = startOf(end)
    let bytes = 0
    const damaged: D[] = []
    for (const { size, damage, unread } of await walk.rowsOf(low, end)) {
      if (unread !== undefined) {
        next = unread
        break
      }
      read += size
      bytes += Math.max(size, ROW_BYTES_MIN)
      if (damage !== null) damaged.push(damage)
    }
    leftBytes -= Math.max(bytes, (blockOf(next) - blockOf(low)) * BLOCK_BYTES)
    if (damaged.length > 0) await scrub.onDamage(damaged)
    low = next
    const done = blockOf(low) >= blocks
    if (!done && leftBytes > 0) continue
    await savePlace(state, placeName, done ? undefined : low)
    walk.throwFirst()
    return { read, done }
  }
}

/**
 * The name of the place of a pass. Earlier versions have their places under the names of the tasks, and cannot read
 * a place of the table as one.
 */
export const placeNameOf = ({ task }: Pick<RowPass, 'task'>): string => `${task}:ctid`

async function blocksOf(state: Queryable, table: RowPass['table']): Promise<number> {
  const { rows } = await state.query<{ blocks: number }>(
    `select (pg_relation_size($1::regclass) / current_setting('block_size')::int)::int as blocks`,
    [table],
  )
  return rows[0]?.blocks ?? 0
}

/** Reads the rows of blocks: all together, and where that fails block by block, then row by row. */
function createWalk<D>(state: Queryable, pass: RowPass, scrub: RowScrub<D>) {
  let first: unknown
  const between = async <R>(query: string, low: string, high: string): Promise<R[]> => {
    scrub.signal.throwIfAborted()
    const { rows } = await state.query<{ row: R }>(
      'select storage_rows_between($1, $2::text::tid, $3::text::tid) as row',
      [query, low, high],
    )
    return rows.map(({ row }) => row)
  }
  const noteDamage = async (error: unknown, place?: UnreadPlace): Promise<never[]> => {
    if (!isOfPage(error)) throw error
    await scrub.onUnreadable(error, place)
    first ??= error
    return []
  }
  const alone = async (low: string): Promise<ReadRow<D>[]> => {
    const named = await between<NamedRow>(pass.name, low, startOf(blockOf(low) + 1)).catch(
      noteDamage,
    )
    const rows: ReadRow<D>[] = []
    for (const { at, place } of named) {
      const read = between<ReadRow<D>>(pass.read, at, afterRow(at))
      rows.push(...(await read.catch((error: unknown) => noteDamage(error, place))))
    }
    return rows
  }
  return {
    /** Awaits `onUnreadable` for each block and row that cannot be read. */
    async rowsOf(low: string, end: number): Promise<ReadRow<D>[]> {
      if (blockOf(low) >= end) return []
      try {
        return await between(pass.read, low, startOf(end))
      } catch (error) {
        if (!isOfPage(error)) throw error
      }
      const rows = await alone(low)
      for (let one = blockOf(low) + 1; one < end; one++) rows.push(...(await alone(startOf(one))))
      return rows
    },
    throwFirst(): void {
      if (first !== undefined) throw first
    },
  }
}

const startOf = (block: number): string => `(${block},0)`
const blockOf = (place: string): number => Number(/\d+/.exec(place)?.[0])

/** The place behind a row, of the text of its own. */
const afterRow = (at: string): string =>
  at.replace(/\d+(?=\)$)/, (offset) => `${Number(offset) + 1}`)
