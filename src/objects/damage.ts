// Alarms the operator of damaged bodies, in blobs, in rows and behind pages that cannot be read: an alarm that names the
// body (`ergon status` counts them) and a log line. Each damage raises one alarm, however many readers meet it.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { BlobRef } from '#blobs/blob.ts'
import { fault } from '#contract/errors.ts'
import type { AlarmKind } from '#contract/node/alarms.ts'
import { raiseAlarm } from '#state/alarms.ts'
import { isUnreadablePage, type Queryable, type SqlRow } from '#state/connect.ts'

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

/** The object that a page which cannot be read keeps from its reader, as far as that is known. */
export type UnreadPlace = {
  /** Its number, or its name where the request has that alone. */
  readonly bucket?: number | string
  readonly key?: string
  readonly version?: string
  /** The sheet and the name of an annotation. */
  readonly sheet?: string
  readonly annotation?: string
}

/** Tasks that read each body, and name the one that they could not read. */
export const SCRUB = 'scrub:'

export interface Damages {
  /** The number of reads that met a damaged body since the start. */
  met(): number
  /** Alarms of a damaged or missing blob. A blob that no row names any more was deleted: no alarm. */
  tell(blob: BlobRef, found: string): Promise<void>
  tellBody(damage: RowDamage): Promise<void>
  /**
   * Alarms of a page that cannot be read; `task` says who read. Other errors of the state are no damage. A body that the
   * scrub cannot read is an alarm each. All others of a page are one, with the first place that met it: clients can name
   * any number of keys.
   */
  tellPage(task: string, error: unknown, place?: UnreadPlace): Promise<void>
  /**
   * The same service, whose methods throw `page_damaged` for an error of a page, after the alarm. That has the place
   * that `placeOf` finds in the arguments of the method.
   */
  telling<S extends object>(service: S, placeOf?: PlaceOf): S
  /** The same state, whose queries throw what the state throws, after the alarm. The API shows such an error as `internal`. */
  tellingState(state: Queryable): Queryable
}

/** SQLSTATE of a page whose checksum is wrong, or of an index that is; or a page that the disk cannot read. */
export const isOfPage = (error: unknown): boolean =>
  ['XX001', 'XX002'].includes(String((error as { code?: unknown }).code)) || isUnreadablePage(error)

export function createDamages({ state, log }: { state: Queryable; log: Logger }): Damages {
  let met = 0
  const tellPage: Damages['tellPage'] = async (task, error, place = {}) => {
    if (!isOfPage(error)) return
    met++
    const damage = { task, found: messageOf(error) }
    const named = { ...damage, ...place }
    const key = JSON.stringify(task.startsWith(SCRUB) ? named : damage)
    if (await raiseAlarm(state, 'page_damaged', named, { key, lasts: true }))
      log.error('A page of the state cannot be read', { damage })
  }
  // A state that is away ends the wait for the alarm.
  const tellOfRequest = (error: unknown, place?: UnreadPlace) =>
    tellPage('request', error, place).catch(() => undefined)
  const throwTold = async (error: unknown, place: UnreadPlace): Promise<never> => {
    if (!isOfPage(error)) throw error
    await tellOfRequest(error, place)
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
    telling(service, placeOf = () => ({})) {
      const methods = Object.entries(service as Methods).map(([name, method]) => [
        name,
        (...given: readonly unknown[]) =>
          method(...given).catch((error: unknown) => throwTold(error, placeOf(given))),
      ])
      return Object.fromEntries(methods) as typeof service
    },
    tellingState: (reads) => ({
      query: <R extends SqlRow>(text: string, values?: readonly unknown[]) =>
        reads.query<R>(text, values).catch(async (error: unknown) => {
          await tellOfRequest(error)
          throw error
        }),
    }),
  }
}

type PlaceOf = (given: readonly unknown[]) => UnreadPlace
type Methods = Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>

/** The bucket at fault, from the arguments of a method whose first argument is a bucket or its name. */
export function placeOfBucket([bucket]: readonly unknown[]): UnreadPlace {
  if (typeof bucket === 'string') return { bucket }
  const isBucket = typeof bucket === 'object' && bucket !== null && 'id' in bucket
  return isBucket && typeof bucket.id === 'number' ? { bucket: bucket.id } : {}
}

/** The place in arguments that go on with a key, a target, or a list of them; several have no key in the place. */
export function placeOfKey(given: readonly unknown[]): UnreadPlace {
  const [, target] = given
  const [only, ...others] = Array.isArray(target) ? (target as readonly unknown[]) : [target]
  const isTarget = typeof only === 'object' && only !== null && 'key' in only
  const key = isTarget ? only.key : only
  const place = placeOfBucket(given)
  const isNamed = place.bucket !== undefined && typeof key === 'string' && others.length === 0
  return isNamed ? { ...place, key } : place
}
