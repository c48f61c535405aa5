// Events of the objects of a bucket, where its notification configuration asks for them. The transaction of the write
// also writes the event. Readers see events in an order that only grows at its end.
import type { Queryable, SqlRow } from '#state/connect.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Bucket } from './types.ts'

export type ObjectEvent = {
  readonly id: bigint
  /** `ObjectCreated:Put` */
  readonly name: string
  /** The Id of the matching rule. */
  readonly rule: string
  readonly key: string
  readonly versionId: string
  readonly size: number
  readonly etag: string
  readonly atMs: number
}

export type EventPage = {
  readonly events: readonly ObjectEvent[]
  /** The position after this page; equal to `after` when the page is empty. */
  readonly next: string
  /** Some events after `after` were dropped. */
  readonly missed: boolean
}

export interface Events {
  /**
   * Up to `limit` events after a position that an earlier page returned ('' for the oldest kept event). Events of
   * running transactions, and all events after these began, come on a later page. Throws InvalidArgument.
   */
  list(bucket: Bucket, page: { after: string; limit: number }): Promise<EventPage>
}

type EventRow = SqlRow & {
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
       order by storage_events.transaction, storage_events.id limit $4`,
      [bucket.id, place.transaction, place.id, limit],
    )
    // After reading the page, so that events dropped meanwhile are reported too.
    const { rows: dropped } = await state.query<{ is_missed: boolean; is_foreign: boolean }>(
      `select (events_dropped_transaction, events_dropped_to) > ($2::xid8, $3::bigint) as is_missed,
         $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) as is_foreign
       from buckets where id = $1`,
      [bucket.id, place.transaction, place.id],
    )
    // The position is ahead of this cluster, so it is from a cluster whose dump was restored (restored.sql). Later
    // events of that cluster are lost: all kept events are returned again.
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

const toEvent = (row: EventRow): ObjectEvent => ({
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
