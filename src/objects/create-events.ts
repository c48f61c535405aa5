// What happened to the objects of a bucket, as far as its notification configuration wants it told: rows
// that the write itself made. They are read in an order that never grows but at its end.
import type { Queryable, Row } from '#state/connect.ts'
import { storageFault } from '#contract/storage-errors.ts'
import type { Bucket } from './types.ts'

export type StorageEvent = {
  readonly id: bigint
  /** `ObjectCreated:Put` */
  readonly name: string
  /** The Id of the rule that wanted it. */
  readonly rule: string
  readonly key: string
  readonly versionId: string
  readonly size: number
  readonly etag: string
  readonly atMs: number
}

export type EventPage = {
  readonly events: readonly StorageEvent[]
  /** Where the next page begins; the same as `after` when there was nothing. */
  readonly next: string
  /** Events after `after` are not kept any more. */
  readonly missed: boolean
}

export interface Events {
  /**
   * Up to `limit` events after a place that an earlier page named, '' for the oldest that is kept. What
   * runs still, and all that began after it, is on a later page. Throws InvalidArgument.
   */
  list(bucket: Bucket, page: { after: string; limit: number }): Promise<EventPage>
}

type EventRow = Row & {
  id: string
  name: string
  rule: string
  key: string
  version_id: string
  size: string
  etag: string
  at: Date
  transaction: string
}

export const createEvents = ({ state }: { state: Queryable }): Events => {
  const listed: Events['list'] = async (bucket, { after, limit }) => {
    const place = placeOf(after)
    const { rows } = await state.query<EventRow>(
      `select id, name, rule, key, version_id, size, etag, at, transaction::text
       from storage_events
       where bucket = $1 and (transaction, id) > ($2::xid8, $3::bigint)
         and transaction < pg_snapshot_xmin(pg_current_snapshot())
       order by transaction, id limit $4`,
      [bucket.id, place.transaction, place.id, limit],
    )
    // After the page: what is dropped while it is read is told too.
    const { rows: dropped } = await state.query<{ is_missed: boolean; is_foreign: boolean }>(
      `select (events_dropped_transaction, events_dropped_to) > ($2::xid8, $3::bigint) as is_missed,
         $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) as is_foreign
       from buckets where id = $1`,
      [bucket.id, place.transaction, place.id],
    )
    // A place that this cluster has not come to is of one whose dump this is (restored.sql): what came after it
    // is lost, so all that is kept is told again.
    if (dropped[0]?.is_foreign === true)
      return { ...(await listed(bucket, { after: '', limit })), missed: true }
    const last = rows.at(-1)
    return {
      events: rows.map(toEvent),
      next: last === undefined ? after : `${last.transaction}-${last.id}`,
      missed: dropped[0]?.is_missed ?? false,
    }
  }
  return { list: listed }
}

const toEvent = (row: EventRow): StorageEvent => ({
  id: BigInt(row.id),
  name: row.name,
  rule: row.rule,
  key: row.key,
  versionId: row.version_id,
  size: Number(row.size),
  etag: row.etag,
  atMs: row.at.getTime(),
})

function placeOf(after: string): { transaction: string; id: string } {
  if (after === '') return { transaction: '0', id: '0' }
  const [, transaction, id] = /^(\d{1,18})-(\d{1,18})$/.exec(after) ?? []
  if (transaction === undefined || id === undefined)
    throw storageFault('InvalidArgument', 'The place does not come from an earlier answer', {
      ArgumentName: 'after',
      ArgumentValue: after.slice(0, 100),
    })
  return { transaction, id }
}
