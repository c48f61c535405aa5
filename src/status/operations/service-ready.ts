// GET /readyz: the process may be sent requests.
import type { ErgonError } from '#base/errors.ts'
import type { Handler } from '#http/reply.ts'

/** `unready` says why requests cannot be served now. */
export function createReady(unready: () => ErgonError | undefined): Handler {
  return () => {
    const why = unready()
    if (why !== undefined) throw why
    return { kind: 'known', status: 200, body: () => ({ status: 'ready' }) }
  }
}
