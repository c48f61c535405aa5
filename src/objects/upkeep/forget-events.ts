// Drops old events: events are kept for seven days, and the newest hundred thousand of a bucket, read or not. The
// bucket's row counts the dropped events and has the greatest position among them, so that readers learn of the gap.
import type { Queryable } from '#state/connect.ts'

export const EVENTS_KEPT_MS = 7 * 24 * 3_600_000
export const EVENTS_KEPT = 100_000

/** Drops up to `limit` events for each of both reasons; returns the number. */
export async function forgetEvents(
  state: Queryable,
  options: { nowMs: number; limit: number; kept?: number },
): Promise<number> {
  const { nowMs, limit, kept = EVENTS_KEPT } = options
  const { rows } = await state.query<{ count: number }>(
    `with doomed as (
       (select id from storage_events where at < to_timestamp($1::float8 / 1000) order by at limit $2)
       union
       (select e.id from buckets b cross join lateral (
          select n.transaction, n.id from storage_events n where n.bucket = b.id
          order by n.transaction desc, n.id desc offset $3 limit 1
        ) last join storage_events e
          on e.bucket = b.id and (e.transaction, e.id) <= (last.transaction, last.id)
        where b.notification is not null limit $2)
     ), gone as (
       delete from storage_events where id in (select id from doomed) returning bucket, transaction, id
     ), counted as (
       update buckets b set events_dropped = b.events_dropped + g.events,
         (events_dropped_transaction, events_dropped_to) = (
           select place.transaction, place.id from (values
             (b.events_dropped_transaction, b.events_dropped_to), (g.transaction, g.id)
           ) as place (transaction, id) order by place.transaction desc, place.id desc limit 1
         )
       from (
         select distinct on (bucket) bucket, transaction, id, count(*) over (partition by bucket) as events
         from gone order by bucket, transaction desc, id desc
       ) g
       where b.id = g.bucket
     )
     select count(*)::int from gone`,
    [nowMs - EVENTS_KEPT_MS, limit, kept],
  )
  return rows[0]?.count ?? 0
}
