// Alarms the operator of damaged bodies, in blobs, in rows and behind pages that cannot be read: an alarm that names the
// body (`ergon status` counts them) and a log line. Each damage raises one alarm, however many readers meet it.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { BlobRef } from '#blobs/blob.ts'
import { fault } from '#contract/errors.ts'
import type { AlarmKind } from '#contract/alarms.ts'
import { raiseAlarm } from '#state/alarms.ts'
import { isUnreadablePage, type Queryable } from '#state/connect.ts'

/** Raises an alarm unless the same alarm was ever raised. */
export const raiseOnce = (
  state: Queryable,
  kind: AlarmKind,
  detail: Readonly<Record<string, unknown>>,
): Promise<boolean> => raiseAlarm(state, kind, detail, { key: JSON.stringify(detail), lasts: true })

/** A damaged body in a row. `found` is the MD5 of its stored bytes. */
export type RowDamage = {
  readonly bucket: number
  readonly key: string
  readonly version: string
  /** The name of a damaged annotation. */
  readonly annotation?: string
  readonly found: string
}

export interface Damages {
  /** The number of reads that met a damaged body since the start. */
  met(): number
  /** Alarms of a damaged or missing blob. A blob that no row names any more was deleted: no alarm. */
  tell(blob: BlobRef, found: string): Promise<void>
  tellBody(damage: RowDamage): Promise<void>
  /** Alarms of a page that cannot be read; `task` says who read. Other errors of the state are no damage. */
  tellPage(task: string, error: unknown): Promise<void>
  /** The same service, whose methods throw `page_damaged` for an error of a page, after the alarm. */
  telling<S extends object>(service: S): S
}

/** SQLSTATE of a page whose checksum is wrong, or of an index that is; or a page that the disk cannot read. */
export const isOfPage = (error: unknown): boolean =>
  ['XX001', 'XX002'].includes(String((error as { code?: unknown }).code)) || isUnreadablePage(error)

export function createDamages({ state, log }: { state: Queryable; log: Logger }): Damages {
  let met = 0
  const tellPage: Damages['tellPage'] = async (task, error) => {
    if (!isOfPage(error)) return
    met++
    const damage = { task, found: messageOf(error) }
    if (await raiseOnce(state, 'page_damaged', damage))
      log.error('A page of the state cannot be read', { damage })
  }
  const throwTold = async (error: unknown): Promise<never> => {
    if (!isOfPage(error)) throw error
    // A state that is away ends the wait for the alarm.
    await tellPage('request', error).catch(() => undefined)
    throw fault('page_damaged', `Could not read a page of the state: ${messageOf(error)}`, {
      cause: error,
    })
  }
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
    async tellBody({ key, annotation, ...damage }) {
      met++
      // Names are the customer's: the alarm has them, the log has not.
      const named = { ...damage, ...(annotation !== undefined && { annotation }), key }
      if (await raiseOnce(state, 'body_damaged', named))
        log.error('A stored body is damaged', { damage })
    },
    tellPage,
    telling(service) {
      const methods = Object.entries(service as Methods).map(([name, method]) => [
        name,
        (...given: readonly unknown[]) => method(...given).catch(throwTold),
      ])
      return Object.fromEntries(methods) as typeof service
    },
  }
}

type Methods = Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>
