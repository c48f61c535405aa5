// Work that code has left after its last answer: its runtime answers `/-/idle` once there is none.
import { callUnix } from '#base/unix-client.ts'

/** Work after an answer: the longest time of a request, and some. */
const IDLE_MAX_MS = 920_000
/** The code can answer in place of the runtime: nothing of its answer is kept. */
const ANSWER_BYTES_MAX = 1024

/** A request for each instance, which all callers share. */
const asked = new Map<string, Promise<void>>()

/** Resolves when the code at the socket has no work left; at once where it is gone. */
export function untilIdle(socketPath: string): Promise<void> {
  const waiting = asked.get(socketPath)
  if (waiting !== undefined) return waiting
  const idle = callUnix({
    socketPath,
    path: '/-/idle',
    bytesMax: ANSWER_BYTES_MAX,
    signal: AbortSignal.timeout(IDLE_MAX_MS),
  })
    .then(
      () => undefined,
      () => undefined,
    )
    .finally(() => asked.delete(socketPath))
  asked.set(socketPath, idle)
  return idle
}
