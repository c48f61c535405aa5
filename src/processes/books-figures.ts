// What the state says of the books in two figures that are cheap to ask for, at each look of Prometheus.
import type { State } from '#state/connect.ts'

export type BooksFigures = { readonly alarms: number; readonly receiptsWaiting: number }

// Leaves are in the order of the log; of the newest shard the last checkpoint says how many are sealed. The
// link to the shard before is a leaf of its own.
const FIGURES = `
  select (select count(*) from alarms)::text as alarms,
    ((select size from log_head) - coalesce((
      select shard.first_leaf + coalesce(sealed.size, 0)
        - (case when shard.link is not null and sealed.size is not null then 1 else 0 end)
      from (select * from receipt_shards order by first_leaf desc, valid_from desc limit 1) shard
      left join lateral (
        select size from receipt_checkpoints where origin = shard.origin order by size desc limit 1
      ) sealed on true), 0))::text as waiting`

/** Asks the state. Rejects when it does not answer. */
export async function booksFigures(state: State): Promise<BooksFigures> {
  const { rows } = await state.query<{ alarms: string; waiting: string }>(FIGURES)
  const [row] = rows
  return { alarms: Number(row?.alarms), receiptsWaiting: Number(row?.waiting) }
}
