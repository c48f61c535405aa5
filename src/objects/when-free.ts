// A deletion holds the lock of its bucket alone. Nobody waits for that lock on a connection, which requests for other
// buckets need: the state refuses with ERG02, has changed nothing, and is asked again later.
import type { TimerClock } from '#base/clock.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Queryable } from '#state/connect.ts'

const FIRST_PAUSE_MS = 5
const PAUSE_MS_MAX = 500
const WAIT_MS_MAX = 15_000

/** The refusal of a put whose bucket is being deleted (put.sql). */
export const BUCKET_BUSY = 'BucketBusy'
/** SQLSTATE of the same (common.sql). */
const BUSY_STATE = 'ERG02'

type WaitClock = Pick<TimerClock, 'monotonicMs' | 'setTimer'>

/** The state; a query that meets a locked bucket is asked again for 15 s. Then it throws OperationAborted. */
export const patientState = (state: Queryable, clock: WaitClock): Queryable => ({
  query: (text, values) =>
    whenFree(clock, () =>
      state.query<never>(text, values).catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === BUSY_STATE) return undefined
        throw error
      }),
    ),
})

/** Asks until the answer is not undefined. Throws OperationAborted after 15 s. */
export async function whenFree<T>(clock: WaitClock, ask: () => Promise<T | undefined>): Promise<T> {
  const lastMs = clock.monotonicMs() + WAIT_MS_MAX
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (clock.monotonicMs() + pauseMs > lastMs) throw storageFault('OperationAborted')
    await new Promise<void>((resolve) => clock.setTimer(pauseMs, resolve))
  }
}
