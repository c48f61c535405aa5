// Instances that end by themselves. The third end of one within five minutes is a crash loop of it. A workload is in a crash
// loop while all of its instances are. The account learns that once, until the workload has run for ten minutes without an
// end, or another version answers.
import type { Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { CRASHES_MAX, CRASHES_WITHIN_MS } from '#contract/workloads/workload-limits.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadEnd } from './driver.ts'
import { keyOfInstance, type Versioned, type VersionedInstance } from './versioned.ts'

export const STEADY_MS = 600_000
/** Lines of the log that the address in the event asks for. */
const LINES = 100

type EndedVersion = Pick<Versioned, 'id' | 'version'>
type EndedInstance = Pick<VersionedInstance, 'id' | 'version' | 'instance'>

export interface Crashes {
  add(of: EndedInstance, end: WorkloadEnd): void
  isLooping(of: EndedVersion): boolean
  /** Ends the crash loop of a workload that has run long enough. */
  endIfSteady(of: EndedVersion): Promise<void>
  forget(id: string): void
}

export function createCrashes({
  state,
  log,
  clock,
  runningOf,
}: {
  readonly state: Queryable
  readonly log: Logger
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** The keys of the instances of a version that run, also while they wait for their next start. */
  readonly runningOf: (of: EndedVersion) => readonly string[]
}): Crashes {
  /** When each instance has ended, the newest last. */
  const ends = new Map<string, number[]>()
  const bornMs = clock.monotonicMs()
  const isLoop = (atMs: readonly number[]) =>
    atMs.length === CRASHES_MAX && Number(atMs.at(-1)) - Number(atMs[0]) <= CRASHES_WITHIN_MS
  const forget = (prefix: string) => {
    for (const key of ends.keys()) if (key.startsWith(prefix)) ends.delete(key)
  }
  const endsOf = (of: EndedVersion) =>
    [...ends].flatMap(([key, atMs]) => (key.startsWith(`${of.id} ${of.version} `) ? [atMs] : []))
  const isLooping = (of: EndedVersion) =>
    endsOf(of).some(isLoop) && runningOf(of).every((key) => isLoop(ends.get(key) ?? []))
  return {
    add(of, { exitCode, words }) {
      const key = keyOfInstance(of)
      ends.set(key, [...(ends.get(key) ?? []), clock.monotonicMs()].slice(-CRASHES_MAX))
      if (!isLooping(of)) return
      const why = `It ends again and again: ${words}`
      state
        .query('select mark_crash_loop($1, $2, $3, $4, $5)', [
          of.id,
          of.version,
          exitCode,
          why,
          LINES,
        ])
        .catch((error: unknown) =>
          log.warn('A crash loop is not told', { id: of.id, error: messageOf(error) }),
        )
    },
    isLooping,
    async endIfSteady(of) {
      const lastMs = Math.max(bornMs, ...endsOf(of).flat())
      if (clock.monotonicMs() - lastMs < STEADY_MS) return
      forget(`${of.id} ${of.version} `)
      await state.query('select end_crash_loop($1)', [of.id])
    },
    forget: (id) => forget(`${id} `),
  }
}
