// Sums over five windows, from which the regression of indirect CPU learns: the CPU of a request may come a window after its
// count. Rest is learned from quiet windows alone.
import type { Regression } from './kalman.ts'
import { UPKEEP } from './upkeep.ts'

/** The regressor of seconds, whatever happens in them. */
export const REST_SECOND = 'rest'
const WINDOWS_PER_SUM = 5
/** Of a sum with an operation that was never seen: until it is learned, the operator pays what it causes. */
const WINDOWS_FIRST = 2
/** Quiet windows after which the work that requests have left is done: commits, a seal, audits and bundles of charges, a vacuum. */
const LEFT_WINDOWS = 25
/** A deviation of the cost of rest below which that is known. */
const REST_KNOWN_MS = 10

/** Gives the regression sums over some windows; says whether requests were learned from. */
export function createSums(regression: Regression) {
  let counts = new Map<string, number>()
  let costMs = 0
  let windows = 0
  let quietWindows = LEFT_WINDOWS
  return (more: ReadonlyMap<string, number>, moreMs: number): boolean => {
    quietWindows = countsRequests(more) ? 0 : quietWindows + 1
    for (const [name, count] of more) counts.set(name, (counts.get(name) ?? 0) + count)
    costMs += moreMs
    // Units come a window after their operation, whose first sum would be divided without them.
    const isNew = counts.keys().some((name) => isOperation(name) && !regression.rate(name))
    if (++windows < (isNew ? WINDOWS_FIRST : WINDOWS_PER_SUM)) return false
    const { value = 0, deviation = Infinity } = regression.rate(REST_SECOND) ?? {}
    const hasRequests = countsRequests(counts)
    // Under load the cost of rest cannot be separated from that of requests: it is learned from windows without
    // requests.
    if (hasRequests && deviation < REST_KNOWN_MS) {
      costMs -= value * (counts.get(REST_SECOND) ?? 0)
      counts.delete(REST_SECOND)
    }
    if (hasRequests || quietWindows >= LEFT_WINDOWS + WINDOWS_PER_SUM)
      regression.learn(counts, costMs)
    counts = new Map()
    costMs = 0
    windows = 0
    return hasRequests
  }
}

/** Units and own CPU of an operation have longer names. */
export const isOperation = (name: string): boolean => name.includes('.') && !name.includes(' ')
const countsRequests = (counts: ReadonlyMap<string, number>): boolean =>
  counts.keys().some((name) => name !== REST_SECOND && name !== UPKEEP)
