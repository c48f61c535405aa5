// A body that stops coming: the client library's time-out ends when the head is there, and a socket's own
// would also end bodies that a slow reader lets wait.
import { Readable } from 'node:stream'

const STALL_MS = 30_000

/** The stream; `clientError` makes the error of one that gives nothing for 30 s although it is waited for. */
export function unstalled(
  source: Readable,
  clientError: (error: unknown) => unknown,
  stallMs = STALL_MS,
): Readable {
  const stream = Readable.from(chunksOf(source, clientError, stallMs), { objectMode: false })
  // A generator that was never begun would neither end its source nor hear how it ends.
  source.on('error', () => undefined)
  stream.once('close', () => source.destroy())
  return stream
}

async function* chunksOf(
  source: Readable,
  clientError: (error: unknown) => unknown,
  stallMs: number,
): AsyncGenerator<Buffer> {
  const chunks = source.iterator()
  const stalled = (): void =>
    void source.destroy(new DOMException(`Nothing came for ${stallMs} ms`, 'TimeoutError'))
  async function next() {
    const timer = setTimeout(stalled, stallMs)
    try {
      return await chunks.next()
    } catch (error) {
      throw clientError(error)
    } finally {
      clearTimeout(timer)
    }
  }
  for (;;) {
    const { done, value } = await next()
    if (done === true) return
    yield value as Buffer
  }
}
