// Ends calls to a model cell: by name, on another connection, so that the call's own connection still delivers the
// final use of the cell.
import { sleep } from '#base/clock.ts'
import { takeRandom } from '#base/random.ts'
import { CALL_HEADER, CALLS_PATH } from '#inference/cell-calls.ts'
import { readText, send, type UpstreamConnections } from './upstream-http.ts'

/** A cell that does not know a call has not read its head yet, or has just ended it. */
const AGAIN_MS = 50
/** After this the connection of the call is closed, without the last figures. */
const LEAVE_MS = 10_000
const ANSWER_BYTES_MAX = 4096

/** The additions of a call to a cell: its name, and the function that ends it. */
export function endableCall(cell: UpstreamConnections, leaveMs = LEAVE_MS) {
  const name = takeRandom(12).toString('base64url')
  return {
    header: [CALL_HEADER, name],
    /** Rejects when the call is over before the cell has ended it, and when the cell does not in time. */
    async leave(over: AbortSignal): Promise<void> {
      const signal = AbortSignal.any([over, AbortSignal.timeout(leaveMs)])
      while (!(await isEnded(cell, CALLS_PATH + name, signal))) await sleep(AGAIN_MS, signal)
    },
  }
}

async function isEnded(
  cell: UpstreamConnections,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const headers = ['host', 'localhost']
  const reply = await send(cell, { method: 'DELETE', path, headers }, signal)
  await readText(reply, ANSWER_BYTES_MAX)
  return reply.status !== 404
}
