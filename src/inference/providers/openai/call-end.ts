// Ends calls to a model cell: by name, on another connection, so that the call's own connection still delivers the
// final use of the cell.
import type { Dispatcher } from 'undici'
import { sleep } from '#base/clock.ts'
import { takeRandom } from '#base/random.ts'
import { CALL_HEADER, CALLS_PATH } from '#inference/cell-calls.ts'

/** A cell that does not know a call has not read its head yet, or has just ended it. */
const AGAIN_MS = 50
/** After this the connection of the call is closed, without the last figures. */
const LEAVE_MS = 10_000
const ANSWER_BYTES_MAX = 4096

/** The additions of a call to a cell: its name, and the function that ends it. */
export function endableCall(cell: Promise<Dispatcher>, leaveMs = LEAVE_MS) {
  const name = takeRandom(12).toString('base64url')
  return {
    header: { [CALL_HEADER]: name },
    /** Rejects when the call is over before the cell has ended it, and when the cell does not in time. */
    async leave(over: AbortSignal): Promise<void> {
      const signal = AbortSignal.any([over, AbortSignal.timeout(leaveMs)])
      const dispatcher = await cell
      while (!(await isEnded(dispatcher, CALLS_PATH + name, signal))) await sleep(AGAIN_MS, signal)
    },
  }
}

async function isEnded(
  dispatcher: Dispatcher,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const origin = 'http://localhost'
  const { statusCode, body } = await dispatcher.request({ origin, path, method: 'DELETE', signal })
  await body.dump({ limit: ANSWER_BYTES_MAX, signal })
  return statusCode !== 404
}
