// Starts what a product needs only once its first row is there, such as a process of its own: a node without that
// product has no further process.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { AgentCore } from './agent-part.ts'

export type FirstRow = {
  /** Notified when a row may be there. */
  readonly channel: string
  /** A query that has a row from then on. */
  readonly query: string
  readonly start: () => Promise<unknown>
  /** The message of the log while the start fails. */
  readonly failing: string
}

/** A missed notification waits for this. */
const AGAIN_MS = 15_000

/** Resolves when it was started, or the signal aborts. */
export async function startAtFirst(
  { state, log }: Pick<AgentCore, 'state' | 'log'>,
  { channel, query, start, failing }: FirstRow,
  signal: AbortSignal,
): Promise<void> {
  let waiting = new AbortController()
  await using _ = await state.listen(channel, () => waiting.abort())
  while (!signal.aborted) {
    waiting = new AbortController()
    try {
      const { rowCount } = await state.query(query)
      if (rowCount > 0) return void (await start())
    } catch (error) {
      log.warn(failing, { error: messageOf(error) })
    }
    await sleep(AGAIN_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
  }
}
