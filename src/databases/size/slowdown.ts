// Slows a server while its database fills: the less room is left, the less its writers do until the agent looks again.
// On a busy machine the agent comes late, and the kernel does not.
import type { GrowthPace } from './pace.ts'

/**
 * From a measurement until a writer has ended, on a busy machine. On an idle one, of 20 writers into 64 MB, 0 to 2 passed
 * the size by more than 5 % with 50 ms, and 1, 0, 0 and 0 with 120.
 */
const REACTION_MAX_MS = 120
/** A database that has not grown for so long is as fast as before. */
const STILL_MS = 100
/** A page here and there is no growth. */
const STILL_BYTES = 262_144
/** Until the growth of a database that was at rest is known: less than between two measurements near the limit. */
const BRACED_MS = 4
/** The part of a slowed server's time that it has meanwhile: 2 ms of each 100 with little room. */
const BRACED_PART = 0.4
/** With less the server does not even end its writers: that took 1.5 s with 11 thousandths. */
const MILLI_MIN = 50
const MILLI = 1000

type GrowthSample = { readonly bytes: number; readonly atMs: number }
export type SlowdownLook = {
  readonly bytes: number
  readonly atMs: number
  readonly pace: Pick<GrowthPace, 'aheadBytes'>
  /** Bytes until the most that the database may ever have. */
  readonly room: number
}

/**
 * Takes the measurements one after the other. `slow` gets thousandths of a processor, or undefined for all of them;
 * `bytesPerMs` is the speed of the fastest writer.
 */
export function createSlowdown(bytesPerMs: number, slow: (milli: number | undefined) => void) {
  let growing: GrowthSample | undefined
  let bracedMs: number | undefined
  const milliOf = (room: number) =>
    Math.max(MILLI_MIN, Math.ceil((MILLI * room) / (bytesPerMs * REACTION_MAX_MS)))
  return {
    /**
     * A database at rest near its limit begins to be written. Until two measurements have told how fast, its server gets
     * less than the fastest writer may have. A writer of a few pages does not use that up.
     */
    brace({ atMs, room }: Pick<SlowdownLook, 'atMs' | 'room'>): void {
      if (growing !== undefined) return
      bracedMs = atMs
      slow(Math.ceil(milliOf(room) * BRACED_PART))
    },
    look({ bytes, atMs, pace, room }: SlowdownLook): void {
      if (pace.aheadBytes > 0 || (growing !== undefined && bytes > growing.bytes + STILL_BYTES))
        growing = { bytes, atMs }
      else if (growing !== undefined && atMs - growing.atMs > STILL_MS) growing = undefined
      else if (growing !== undefined || bracedMs === undefined || atMs - bracedMs < BRACED_MS)
        return
      bracedMs = undefined
      slow(growing && milliOf(room))
    },
    /** At once: those that wrote are ended, and have files to remove. */
    lift(): void {
      if (growing === undefined && bracedMs === undefined) return
      growing = bracedMs = undefined
      slow(undefined)
    },
  }
}
