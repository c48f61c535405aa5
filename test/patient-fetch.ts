// fetch as the SDKs of our callers use it: an answer that says that the state did not answer in time, which
// is given before anything is done, is asked again after its Retry-After. On a machine that runs all tests at
// once a tick can come later than a session lives. Any other answer is for the test to see.
import { setTimeout as pause } from 'node:timers/promises'

const TRIES_MAX = 20
const SILENT = /state_unavailable|the state did not answer/

/** True for an answer that nothing was done because the state was silent. */
export const isSilent = (status: number, body: string): boolean =>
  status === 503 && SILENT.test(body)

/** Asks until the state answers, at most twenty times; resolves to the last answer. */
export async function untilHeard<T>(
  ask: () => Promise<T>,
  heard: (answer: T) => boolean | Promise<boolean>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (tries === TRIES_MAX || (await heard(answer))) return answer
    await pause(1000)
  }
}

/** The one of Node, for tests of the service while its state is silent. */
export const fetchOnce = globalThis.fetch

globalThis.fetch = async (input, init) => {
  // A stream is read once, and so is the body of a Request.
  const isRepeatable = !(init?.body instanceof ReadableStream) && !(input instanceof Request)
  if (!isRepeatable) return await fetchOnce(input, init)
  return await untilHeard(
    () => fetchOnce(input, init),
    async (answer) => answer.status !== 503 || !isSilent(503, await answer.clone().text()),
  )
}
