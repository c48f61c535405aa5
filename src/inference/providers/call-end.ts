// How calls to a model cell are ended: by name, on another connection, so that the call's own connection can
// still bring what the cell spent.
import type { Dispatcher } from 'undici'
import { sleep } from '#base/clock.ts'
import { takeRandom } from '#base/random.ts'
import { CALL_HEADER, CALLS_PATH } from '#inference/cell-calls.ts'

/** A cell that does not know a call has not read its head yet, or has just ended it. */
const AGAIN_MS = 50

/** What a new call to a cell has more than one to an upstream: its name, and how it is ended. */
export function endableCall(cell: Promise<Dispatcher>) {
  const name = takeRandom(12).toString('base64url')
  return {
    header: { [CALL_HEADER]: name },
    async leave(isOver: () => boolean): Promise<void> {
      const dispatcher = await cell
      while (!isOver()) {
        if (await isEnded(dispatcher, CALLS_PATH + name)) return
        await sleep(AGAIN_MS)
      }
    },
  }
}

async function isEnded(dispatcher: Dispatcher, path: string): Promise<boolean> {
  const origin = 'http://localhost'
  const { statusCode, body } = await dispatcher.request({ origin, path, method: 'DELETE' })
  await body.dump()
  return statusCode !== 404
}
