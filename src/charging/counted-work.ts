// Work of a request in shared cells that grows with a number, while the CPU of the request's own process hardly does.
import type { Spend } from './spend.ts'

/** Statements of this process share the time while they run at once: a bill ahead of the windows is of one process's CPU. */
const shared = { running: 0, ms: 0, atMs: 0 }

/** The time up to now that each running statement has had since any began. */
function sharedMs(): number {
  const nowMs = performance.now()
  shared.ms += (nowMs - shared.atMs) / Math.max(1, shared.running)
  shared.atMs = nowMs
  return shared.ms
}

/** Does the work by one statement, and counts the units in its result that are beyond the request itself. */
export async function countedWork<T>(
  spend: Pick<Spend, 'countUnits'>,
  work: () => Promise<T>,
  furtherIn: (result: T) => number,
): Promise<T> {
  const fromMs = sharedMs()
  shared.running++
  let elapsedMs = 0
  let result: T
  try {
    result = await work()
  } finally {
    elapsedMs = sharedMs() - fromMs
    shared.running--
  }
  const further = furtherIn(result)
  if (further > 0) spend.countUnits(further, elapsedMs)
  return result
}
