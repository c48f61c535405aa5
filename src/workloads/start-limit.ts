// The limit of a start that waits for others, and the words of what it waited for.
import { NotYet } from '#resources/reconciler.ts'
import type { VolumesWait } from './driver.ts'

/** The reason of a late start that has waited for no others. */
const OWN_WORK = 'its volumes are being made or grown'

/** Does work that may wait until a start is late. Throws NotYet with what it waited for then. */
export async function untilLate<T>(
  given: {
    readonly late: AbortSignal
    readonly readyMs: number
    readonly signal: AbortSignal
    readonly tell: (text: string) => void
  },
  work: (wait: VolumesWait) => Promise<T>,
): Promise<T> {
  const { late, readyMs, signal, tell } = given
  let what = OWN_WORK
  const waits = (now: string | null) => {
    what = now ?? OWN_WORK
    if (now !== null) tell(`An instance does not start yet: ${now}`)
  }
  try {
    return await work({ signal: AbortSignal.any([signal, late]), waits })
  } catch (error) {
    if (error !== late.reason) throw error
    const why = `Could not start the workload in ${readyMs / 1000} s: ${what}`
    tell(why)
    throw new NotYet(why)
  }
}
