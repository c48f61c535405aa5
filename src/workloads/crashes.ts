// Instances that end by themselves. The third end within five minutes is a crash loop, which the account learns once,
// until the workload has run for ten minutes without an end, or another version answers.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { CRASHES_MAX, CRASHES_WITHIN_MS } from '#contract/workload-limits.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadEnd } from './driver.ts'

const STEADY_MS = 600_000
/** Of the log, in the address that the event gives. */
const LINES = 100

type Ended = { readonly id: string; readonly version: number }

export interface Crashes {
  add(of: Ended, end: WorkloadEnd): void
  isLooping(of: Ended): boolean
  /** Ends the crash loop of a workload that has run long enough. */
  endIfSteady(of: Ended): Promise<void>
  forget(id: string): void
}

export function createCrashes({
  state,
  log,
}: {
  readonly state: Queryable
  readonly log: Logger
}): Crashes {
  /** When each version has ended, the newest last. */
  const ends = new Map<string, number[]>()
  const bornMs = performance.now()
  const keyOf = ({ id, version }: Ended) => `${id} ${version}`
  const isLoop = (atMs: readonly number[]) =>
    atMs.length === CRASHES_MAX && Number(atMs.at(-1)) - Number(atMs[0]) <= CRASHES_WITHIN_MS
  return {
    add(of, { exitCode, words }) {
      const atMs = [...(ends.get(keyOf(of)) ?? []), performance.now()].slice(-CRASHES_MAX)
      ends.set(keyOf(of), atMs)
      if (!isLoop(atMs)) return
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
    isLooping: (of) => isLoop(ends.get(keyOf(of)) ?? []),
    async endIfSteady(of) {
      if (performance.now() - (ends.get(keyOf(of))?.at(-1) ?? bornMs) < STEADY_MS) return
      ends.delete(keyOf(of))
      await state.query('select end_crash_loop($1)', [of.id])
    },
    forget(id) {
      for (const key of ends.keys()) if (key.startsWith(`${id} `)) ends.delete(key)
    },
  }
}
