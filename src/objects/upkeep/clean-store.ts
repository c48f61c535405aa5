// The blobs of one store: blobs that no version names go, orphans of crashes go, and a small part is read again.
import type { Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { BlobStore } from '#blobs/blob.ts'
import type { State } from '#state/connect.ts'
import { raiseOnce, type Damages } from '#objects/damage.ts'
import { collectGarbage } from './collect-garbage.ts'
import { eachInTurn } from './pieces.ts'
import { scrub, type Damage } from './scrub.ts'
import { sweepOrphans } from './sweep-orphans.ts'

/** The most blobs of one round. Further blobs wait for the next round. */
const GARBAGE_MAX = 10_000
/** 1 GiB an hour is 24 TiB in three years: a disk is read once before it is old. */
export const SCRUB_BYTES_A_MINUTE = 17 * 1024 * 1024

type StoreDeps = {
  readonly state: State
  readonly clock: Clock
  readonly log: Logger
  readonly damages: Damages
}

export async function cleanStore(
  store: BlobStore,
  deps: StoreDeps,
  signal: AbortSignal,
): Promise<void> {
  const { state, damages } = deps
  const onDamage = ({ found, ...blob }: Damage) => damages.tell(blob, found)
  await eachInTurn(signal, [
    () => collectGarbage({ state, store }, { limit: GARBAGE_MAX, signal }),
    () => sweep(store, deps, signal),
    () => scrub({ state, store }, { bytesMax: SCRUB_BYTES_A_MINUTE, signal, onDamage }),
  ])
}

async function sweep(
  store: BlobStore,
  { state, clock, log }: StoreDeps,
  signal: AbortSignal,
): Promise<void> {
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
