// The energy of a streamed answer while it runs, in chunks of callers that ask for it.
import type { Clock } from '#base/clock.ts'
import { smaller } from '#base/units.ts'
import type { Started } from '#inference/generation.ts'

/** Two chunks with figures are at least so far apart. */
const EVERY_MS = 250
/** Each chunk ends so. */
const CHUNK_END = '}\n\n'

/** Adds the figures to the last of some chunks, when it is time. */
export type RunningEnergy = (chunks: string) => string

/** Measured energy may pass the ceiling, and the bill does not: the figure stops there. */
export function createRunningEnergy(
  { measured, ceiling }: Pick<Started, 'measured' | 'ceiling'>,
  clock: Clock,
): RunningEnergy {
  let lastMs = Number.NEGATIVE_INFINITY
  return (chunks) => {
    const nowMs = clock.monotonicMs()
    if (nowMs - lastMs < EVERY_MS) return chunks
    lastMs = nowMs
    const ceilingNj = ceiling()
    const figures = {
      energy_nj: String(smaller(measured(), ceilingNj)),
      ceiling_nj: String(ceilingNj),
    }
    return `${chunks.slice(0, -CHUNK_END.length)},"energy":${JSON.stringify(figures)}${CHUNK_END}`
  }
}
