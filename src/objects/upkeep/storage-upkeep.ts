// What object storage needs done in the background, in bounded pieces: lifecycle rules, blobs that no
// version names any more, orphans of crashes, a slow re-reading of everything that is stored, the move
// to another store, and the charge of what is.
import { sleep, type TimerClock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { BlobStores } from '#blobs/stores.ts'
import type { State } from '#state/connect.ts'
import { createDocuments } from '#objects/documents.ts'
import { createObjects } from '#objects/create-objects.ts'
import { createClean } from './clean.ts'
import { expireObjects } from './expire-objects.ts'
import { moveAsOrdered } from './mover.ts'
import { rewrapKeys } from './rewrap.ts'
import { restMs, type Standing } from './standing.ts'

const MINUTE_MS = 60_000
/** Lifecycle is looked at this often in a day, or once a minute. */
const LOOKS_PER_DAY = 10
/** Longer than gateways take to hear of a new version. */
const REWRAP_MS = 10_000
/** How soon a move that goes on is tried again. */
const MOVE_MS = 1000
/** How soon one begins of which nobody could tell us. */
const UNTOLD_MS = 10_000
/** Side by side the first rounds would open a connection each, of 20 ms of CPU; so they share one. */
const APART_MS = 200
/** Of one round; what is over waits for the next. */
const VERSIONS_MAX = 1000
const LOOKS_MAX = 100

export interface StorageUpkeep {
  /** Works until the signal aborts. What fails is logged and tried again. */
  run(signal: AbortSignal): Promise<void>
  /** A move was ordered: it begins at once. */
  told(): void
}

export function createStorageUpkeep(deps: {
  state: State
  stores: BlobStores
  clock: TimerClock
  log: Logger
  dayMs: number
  keys: { readonly secret: string; readonly keyIds: readonly string[] }
  standing: Standing
  /** How often stored bytes are charged. */
  minuteMs: number
  untoldMs?: number
}): StorageUpkeep {
  const { state, stores, clock, log, dayMs, keys, standing, minuteMs } = deps
  /** What fails is logged; the next round tries again. */
  const tried = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
    work.catch((error: unknown) => {
      if (!signal.aborted) log.warn('Storage could not be kept', { error: messageOf(error) })
    })
  const clean = createClean({ state, stores, clock, log, tried })
  const objects = createObjects({ state, documents: createDocuments({ state }), clock })

  async function expire(signal: AbortSignal): Promise<void> {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const { done } = await expireObjects(
        { state, objects, clock },
        { limit: VERSIONS_MAX, signal, dayMs },
      )
      if (done) return
    }
  }

  /** After a rotation: all objects, a piece at a time. */
  async function rewrap(signal: AbortSignal): Promise<void> {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const { done } = await rewrapKeys(
        { state, objects, ...keys },
        { limit: VERSIONS_MAX, signal },
      )
      if (done) return
    }
  }

  const every = async (
    ms: number,
    work: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> => {
    while (!signal.aborted) {
      await tried(work(signal), signal)
      await sleep(ms, signal).catch(() => undefined)
    }
  }

  const moving = createMoving({
    look: (signal) => moveAsOrdered({ state, stores, clock }, signal),
    tried,
    untoldMs: deps.untoldMs ?? UNTOLD_MS,
  })

  return {
    told: moving.told,
    async run(signal) {
      const lookMs = Math.min(MINUTE_MS, dayMs / LOOKS_PER_DAY)
      await Promise.all([
        moving.run(signal),
        later(1, signal, () => every(restMs(minuteMs), standing.charge, signal)),
        later(2, signal, () => every(lookMs, expire, signal)),
        later(3, signal, () => every(REWRAP_MS, rewrap, signal)),
        later(4, signal, () => every(MINUTE_MS, clean, signal)),
      ])
    },
  }
}

async function later(nth: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  await sleep(nth * APART_MS, signal).catch(() => undefined)
  await work()
}

/** Looks for an order to move, and soon again while there is one. */
function createMoving({
  look,
  tried,
  untoldMs,
}: {
  /** Resolves with whether something is left to do. */
  look: (signal: AbortSignal) => Promise<boolean>
  tried: (work: Promise<void>, signal: AbortSignal) => Promise<void>
  untoldMs: number
}) {
  let wake = new AbortController()
  return {
    told: () => wake.abort(),
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        // What is ordered while it looks is looked at again.
        wake = new AbortController()
        // Where the look fails, or the move, there is one for all we know.
        let isMoving = true
        const looking = look(signal).then((found) => void (isMoving = found))
        await tried(looking, signal)
        const restMs = isMoving ? MOVE_MS : untoldMs
        await sleep(restMs, AbortSignal.any([signal, wake.signal])).catch(() => undefined)
      }
    },
  }
}
