// Alarms the operator of damaged blobs: an alarm that names the blob (`ergon status` counts them) and a log line.
// Each damage is alarmed once, however many readers meet it: unique indexes of the table of alarms see to that.
import type { Logger } from '#base/log.ts'
import type { BlobRef } from '#blobs/blob.ts'
import type { Queryable } from '#state/connect.ts'

/** The kinds of alarm with a unique index over their details. */
type ToldOnce = 'blobs_unnamed' | 'body_damaged' | 'page_damaged'

/** Raises an alarm unless the same alarm exists. */
export async function raiseAlarm(state: Queryable, kind: ToldOnce, detail: object): Promise<void> {
  await state.query(
    'insert into alarms (kind, detail) values ($1, $2::jsonb) on conflict do nothing',
    [kind, JSON.stringify(detail)],
  )
}

export interface Damages {
  /** The number of reads that met a damaged blob since the start. */
  met(): number
  /** Alarms of a damaged or missing blob. A blob that no row names any more was deleted: no alarm. */
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
