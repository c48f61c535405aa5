// Work of each minute on stored data: cleans the blobs of each store, reads a small part of the rows of the state again, and
// removes old rows.
import type { Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { BlobStores } from '#blobs/stores.ts'
import type { State } from '#state/connect.ts'
import { createDamages } from '#objects/damage.ts'
import { raiseAlarm } from '#state/alarms.ts'
import { checkFolders, type WrongFolder } from './check-folders.ts'
import { cleanStore, SCRUB_BYTES_A_MINUTE } from './clean-store.ts'
import { collectAnnotations } from './collect-annotations.ts'
import { forgetCompletions } from './expire-uploads.ts'
import { forgetEvents } from './forget-events.ts'
import { eachAtOnce, eachInTurn } from './pieces.ts'
import { ANNOTATIONS, BODIES, scrubRows, type RowPass } from './scrub-rows.ts'

/** The most rows of one round. Further rows wait for the next round. */
const VERSIONS_MAX = 1000
/** 1,666 a second of each bucket that writes as fast as it can. */
const EVENTS_MAX = 100_000
/** A million keys in eight hours. */
const FOLDERS_A_MINUTE = 2000

/** One round. A piece that fails keeps no other piece from its work. The round rejects with the first error. */
export function createClean(deps: {
  state: State
  stores: BlobStores
  clock: Clock
  log: Logger
}): (signal: AbortSignal) => Promise<void> {
  const { state, stores, clock, log } = deps
  const damages = createDamages({ state, log })
  const blobs = { state, clock, log, damages }

  async function scrubState(pass: RowPass, signal: AbortSignal): Promise<void> {
    await scrubRows(state, pass, {
      bytesMax: SCRUB_BYTES_A_MINUTE,
      signal,
      async onDamage(damaged) {
        for (const damage of damaged) await damages.tellBody(damage)
      },
      onUnreadable: (error, place) => damages.tellPage(pass.task, error, place),
    })
  }

  /** One alarm for a bucket, until it is acknowledged: a lost table has a million wrong rows. */
  async function tellFolders(wrong: readonly WrongFolder[]): Promise<void> {
    const byBucket = Map.groupBy(wrong, ({ bucket }) => bucket)
    for (const [bucket, [first, ...others]] of byBucket) {
      const finding = { bucket, folder: first?.key ?? '', others: others.length }
      log.error('The table of folders differs from the keys, and is mended now', { finding })
      await raiseAlarm(state, 'folders_wrong', finding, { key: String(bucket) })
    }
  }

  const checkSomeFolders = (signal: AbortSignal) =>
    checkFolders(state, {
      rowsMax: FOLDERS_A_MINUTE,
      signal,
      onDamage: tellFolders,
      onUnreadable: (error, place) => damages.tellPage('folders', error, place),
    })

  async function forgetOldEvents(): Promise<void> {
    const forgotten = await forgetEvents(state, { nowMs: clock.wallMs(), limit: EVENTS_MAX })
    if (forgotten > 0) log.info('Old events of buckets are kept no longer', { events: forgotten })
  }

  return (signal) =>
    eachInTurn(signal, [
      // At once, so that a store which is away delays no other.
      () => eachAtOnce([...stores.values()].map((store) => cleanStore(store, blobs, signal))),
      () => scrubState(BODIES, signal),
      () => scrubState(ANNOTATIONS, signal),
      () => checkSomeFolders(signal),
      () => collectAnnotations(state, { limit: VERSIONS_MAX, signal }),
      forgetOldEvents,
      () => forgetCompletions(state, { nowMs: clock.wallMs(), limit: VERSIONS_MAX }),
    ])
}
