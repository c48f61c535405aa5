// The speed at which a database grows, and the bytes that its writers still write until they are ended.
/** From a measurement to the next one, and from there to the end of a writer; on a machine that is not busy. */
const REACTION_MS = 16
/** A busy machine is late twice: with the next measurement, and with the end of a writer. */
const REACTION_PER_LATE = 2
/** The part of a late measurement that counts at the next one. */
const LATE_KEPT = 0.95
/** The server enlarges files by up to 512 KB at once: a slow writer does so now and then. */
const STEP_BYTES = 1_048_576

export type GrowthPace = {
  /** Since the measurement before. */
  readonly sinceMs: number
  readonly isGrowing: boolean
  /** Bytes that a writer still writes if it is ended at the next measurement and not now. */
  readonly aheadBytes: number
}

/** Takes the measurements one after the other: the bytes, the time, and how late it was begun. */
export function createGrowthPace() {
  // The first measurement counts as growth: a writer may have woken the server.
  let last = { bytes: 0, atMs: -Infinity, lateMs: 0 }
  return (bytes: number, { atMs, lateMs }: Pick<typeof last, 'atMs' | 'lateMs'>): GrowthPace => {
    const sinceMs = atMs - last.atMs
    const growth = bytes - last.bytes
    last = { bytes, atMs, lateMs: Math.max(lateMs, last.lateMs * LATE_KEPT) }
    const reactionMs = REACTION_MS + REACTION_PER_LATE * last.lateMs
    const aheadBytes = (Math.max(0, growth - STEP_BYTES) / sinceMs) * reactionMs
    return { sinceMs, isGrowing: growth > 0, aheadBytes }
  }
}
