// Work of each minute on stored data: removes blobs that no version names and orphans of crashes, and reads a small
// part of all blobs again.
import type { Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { BlobStore } from '#blobs/blob.ts'
import type { BlobStores } from '#blobs/stores.ts'
import type { State } from '#state/connect.ts'
import { createDamages, raiseOnce } from '#objects/damage.ts'
import { raiseAlarm } from '#state/alarms.ts'
import { checkFolders, type WrongFolder } from './check-folders.ts'
import { collectAnnotations } from './collect-annotations.ts'
import { collectGarbage } from './collect-garbage.ts'
import { forgetCompletions } from './expire-uploads.ts'
import { forgetEvents } from './forget-events.ts'
import { scrub, type Damage } from './scrub.ts'
import { ANNOTATIONS, BODIES, scrubRows, type RowPass } from './scrub-rows.ts'
import { sweepOrphans } from './sweep-orphans.ts'

/** Of one round; what is over waits for the next. */
const VERSIONS_MAX = 1000
const GARBAGE_MAX = 10_000
/** 1,666 a second of each bucket that writes as fast as it can. */
const EVENTS_MAX = 100_000
/** 1 GiB an hour is 24 TiB in three years: a disk is read once before it is old. */
const SCRUB_BYTES_A_MINUTE = 17 * 1024 * 1024

/** A million keys in eight hours. */
const FOLDERS_A_MINUTE = 2000

/** One round. A piece that fails keeps no other from its work; then the round rejects with its error. */
export function createClean(deps: {
  state: State
  stores: BlobStores
  clock: Clock
  log: Logger
}): (signal: AbortSignal) => Promise<void> {
  const { state, stores, clock, log } = deps
  const damages = createDamages({ state, log })

  /** One that is away keeps the others waiting for nothing. */
  async function cleanStore(store: BlobStore, signal: AbortSignal): Promise<void> {
    await collectGarbage({ state, store }, { limit: GARBAGE_MAX, signal })
    await sweep(store, signal)
    const onDamage = ({ found, ...blob }: Damage) => damages.tell(blob, found)
    await scrub({ state, store }, { bytesMax: SCRUB_BYTES_A_MINUTE, signal, onDamage })
  }

  async function sweep(store: BlobStore, signal: AbortSignal): Promise<void> {
    const { location } = store
    const { found, waiting, isAlarming } = await sweepOrphans({ state, store, clock }, { signal })
    if (found > 0) log.info('Bodies that no row names go in a week', { location, found, waiting })
    if (!isAlarming) return
    log.error('More bodies than a kill leaves are unnamed: is the state older than they are?', {
      location,
      waiting,
    })
    await raiseOnce(state, 'blobs_unnamed', {
      location,
      waiting,
      at: new Date(clock.wallMs()).toISOString(),
    })
  }

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

  return async (signal: AbortSignal): Promise<void> => {
    const ends = await Promise.allSettled(
      [...stores.values()].map((store) => cleanStore(store, signal)),
    )
    for (const pass of [BODIES, ANNOTATIONS])
      ends.push(...(await Promise.allSettled([scrubState(pass, signal)])))
    const checking = checkFolders(state, {
      rowsMax: FOLDERS_A_MINUTE,
      signal,
      onDamage: tellFolders,
      onUnreadable: (error, place) => damages.tellPage('folders', error, place),
    })
    ends.push(...(await Promise.allSettled([checking])))
    await collectAnnotations(state, { limit: VERSIONS_MAX, signal })
    const forgotten = await forgetEvents(state, { nowMs: clock.wallMs(), limit: EVENTS_MAX })
    if (forgotten > 0) log.info('Old events of buckets are kept no longer', { events: forgotten })
    await forgetCompletions(state, { nowMs: clock.wallMs(), limit: VERSIONS_MAX })
    const failed = ends.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }
}
