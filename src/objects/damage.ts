// Alarms the operator of damaged blobs: an alarm that names the blob (`ergon status` counts them) and a log line.
// Each damage raises one alarm, however many readers meet it.
import type { Logger } from '#base/log.ts'
import type { BlobRef } from '#blobs/blob.ts'
import type { AlarmKind } from '#contract/alarms.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { Queryable } from '#state/connect.ts'

/** Raises an alarm unless the same alarm was ever raised. */
export const raiseOnce = (
  state: Queryable,
  kind: AlarmKind,
  detail: Readonly<Record<string, unknown>>,
): Promise<boolean> => raiseAlarm(state, kind, detail, { key: JSON.stringify(detail), lasts: true })

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
        'select from blobs where id = $1::uuid and location = $2',
        [id, location],
      )
      const once = { key: `${location}/${id}`, lasts: true } as const
      if (rowCount > 0 && (await raiseAlarm(state, 'blob_damaged', damage, once)))
        log.error('A stored blob is damaged', { damage })
    },
  }
}
