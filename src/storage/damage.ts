// Tells the operator of stored bytes that are not what was written: an alarm that names them, counted by
// `ergon status`, and a line of the log. However often they are met, they are told once.
import type { Logger } from '#base/log.ts'
import type { BlobRef } from '#blobs/blob.ts'
import type { Queryable } from '#state/connect.ts'

/** Raises an alarm; false where there is one of this kind with these details. */
export async function raiseAlarm(state: Queryable, kind: string, detail: object): Promise<boolean> {
  const { rowCount } = await state.query(
    `insert into alarms (kind, detail) select $1, $2::jsonb
     where not exists (select from alarms where kind = $1 and detail = $2::jsonb)`,
    [kind, JSON.stringify(detail)],
  )
  return rowCount > 0
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
           and not exists (select from alarms where kind = 'blob_damaged'
             and detail ->> 'id' = $2::uuid::text and detail ->> 'location' = $3)`,
        [JSON.stringify(damage), id, location],
      )
      if (rowCount > 0) log.error('A stored blob is damaged', { damage })
    },
  }
}
