// Tells the operator of stored bytes that are not what was written: an alarm that names them, counted by
// `ergon status`, and a line of the log. However often and by however many readers they are met, they are told
// once: unique indexes of the table of alarms see to that.
import type { Logger } from '#base/log.ts'
import type { BlobRef } from '#blobs/blob.ts'
import type { Queryable } from '#state/connect.ts'

/** The kinds whose details a unique index keeps apart. */
type ToldOnce = 'blobs_unnamed' | 'body_damaged' | 'page_damaged'

/** Raises an alarm, unless there is one of this kind with these details. */
export async function raiseAlarm(state: Queryable, kind: ToldOnce, detail: object): Promise<void> {
  await state.query(
    'insert into alarms (kind, detail) values ($1, $2::jsonb) on conflict do nothing',
    [kind, JSON.stringify(detail)],
  )
}

export interface Damages {
  /** How many reads met a damaged blob since the start. */
  met(): number
  /** Tells of a damaged or missing blob. One that no row names any more was deleted, and is none. */
  tell(blob: BlobRef, found: string): Promise<void>
}

export function createDamages({ state, log }: { state: Queryable; log: Logger }): Damages {
  let met = 0
  return {
    met: () => met,
    async tell({ id, location, size }, found) {
      met++
      const damage = { id, location, size, found }
      const { rowCount } = await state.query(
        `insert into alarms (kind, detail) select 'blob_damaged', $1::jsonb
         where exists (select from blobs where id = $2::uuid and location = $3)
         on conflict do nothing`,
        [JSON.stringify(damage), id, location],
      )
      if (rowCount > 0) log.error('A stored blob is damaged', { damage })
    },
  }
}
