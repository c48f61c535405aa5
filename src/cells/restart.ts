// The one restart rule of every cell: a pure function of its past lives.
import type { Backoff } from './cell.ts'

/** One life of a cell, by the monotonic clock. */
export type Life = { readonly startedMs: number; readonly endedMs: number }

/**
 * The wait before the next start, in ms. `lives` are the past ones, newest last: the n-th
 * life in a row that was shorter than `steadyMs` waits `delaysMs[n-1]`, the last delay repeating; a
 * steady life starts the count again.
 */
export function nextStart(lives: readonly Life[], policy: Backoff): number {
  const lastSteady = lives.findLastIndex((life) => life.endedMs - life.startedMs >= policy.steadyMs)
  const short = lives.length - 1 - lastSteady
  return policy.delaysMs[Math.min(Math.max(short - 1, 0), policy.delaysMs.length - 1)] ?? 0
}

/** Throws a RangeError for a policy that nextStart cannot follow. */
export function checkBackoff(policy: Backoff): void {
  if (policy.delaysMs.length === 0 || policy.delaysMs.some((delay) => !(delay >= 0)))
    throw new RangeError(`Restart delays must be a non-empty list of ms: ${policy.delaysMs.join()}`)
  if (!(policy.steadyMs > 0)) throw new RangeError(`steadyMs must be positive: ${policy.steadyMs}`)
}
