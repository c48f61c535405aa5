// A read that is repeated while the service is away, as during its restart.
import { sleep } from '#base/clock.ts'
import { ApiRefusal, Unreachable } from './client.ts'

const LOOK_MS = 300
/** A service that is away comes back, or the command ends. */
const AWAY_MS = 60_000

/** Throws the error of the last try, and at once an error that the request itself has caused. */
export async function readPatiently<T>(read: () => Promise<T>): Promise<T> {
  const lastMs = performance.now() + AWAY_MS
  for (;;) {
    try {
      return await read()
    } catch (error) {
      const isAway =
        error instanceof Unreachable || (error instanceof ApiRefusal && error.status >= 500)
      if (!isAway || performance.now() > lastMs) throw error
      await sleep(LOOK_MS)
    }
  }
}
