// Charges that the live stream counted and did not name, since a moment.
import { useState } from 'react'
import { useLive } from './use-live.ts'

/** Number of these charges since `moment` was another, such as the answer of a read. */
export function useMissed(moment: unknown): number {
  const count = useLive(({ missedCount }) => missedCount)
  const [start, setStart] = useState({ moment, count })
  if (start.moment !== moment) {
    setStart({ moment, count })
    return 0
  }
  return count - start.count
}
