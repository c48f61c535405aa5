// Work of a request in shared cells that grows with a number, while the CPU of the request's own process hardly does.
import type { Spend } from './spend.ts'

/** Does the work by one statement, and counts the units in its result that are beyond the request itself. */
export async function countedWork<T>(
  spend: Pick<Spend, 'countUnits'>,
  work: () => Promise<T>,
  furtherIn: (result: T) => number,
): Promise<T> {
  const fromMs = performance.now()
  const result = await work()
  const further = furtherIn(result)
  if (further > 0) spend.countUnits(further, performance.now() - fromMs)
  return result
}
