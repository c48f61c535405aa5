// The time of an orderly stop, shared by its stages. A service manager kills after 20 to 30 s, and a killed process
// has posted nothing. Each stage gets the time that its later stages can spare.
import { sleep, type Clock } from '#base/clock.ts'

/** In the order of stopping; each names the least that it is left with. */
const STAGES = [
  // All that the later ones do not need: running requests end, what they used is posted.
  { name: 'gateways', leastMs: 9000 },
  { name: 'workers', leastMs: 2000 },
  { name: 'signers', leastMs: 1500 },
  { name: 'accounting', leastMs: 1500 },
  // PostgreSQL writes a checkpoint; one that is killed recovers at the next start.
  { name: 'state', leastMs: 5000 },
] as const

export const STOP_MS_MAX = STAGES.reduce((sum, { leastMs }) => sum + leastMs, 0)
/** The part of the gateways' time for requests: how long running requests may go on before they are cut. */
export const DRAIN_MS = 6000

export type StopStage = (typeof STAGES)[number]['name']

/** The stages in which cells of products end: callers before whom they call. */
export const CELL_STAGES = ['gateways', 'workers', 'signers'] as const satisfies StopStage[]
export type CellStage = (typeof CELL_STAGES)[number]

export interface StopBudget {
  /** The longest time of a stage that begins now, before it is killed. The first call begins the stop. */
  graceMs(stage: StopStage): number
  /** Does work of a stage, and waits no longer than its grace: what hangs then ends with the process. */
  within(stage: StopStage, work: (graceMs: number) => Promise<void>): Promise<void>
}

export function createStopBudget(clock: Pick<Clock, 'monotonicMs'>): StopBudget {
  let endMs: number | undefined
  const budget: StopBudget = {
    graceMs(stage) {
      // Whole: a time-out of a signal takes no other.
      const nowMs = Math.ceil(clock.monotonicMs())
      endMs ??= nowMs + STOP_MS_MAX
      const index = STAGES.findIndex(({ name }) => name === stage)
      const laterMs = STAGES.slice(index + 1).reduce((sum, { leastMs }) => sum + leastMs, 0)
      // Late all the same, by a kill that took its time: later ones are not robbed of all they have.
      return Math.max(endMs - nowMs - laterMs, LATE_MS)
    },
    async within(stage, work) {
      const graceMs = budget.graceMs(stage)
      const done = new AbortController()
      const limit = sleep(graceMs, done.signal).catch(() => undefined)
      await Promise.race([work(graceMs), limit]).finally(() => done.abort())
    },
  }
  return budget
}

const LATE_MS = 500
