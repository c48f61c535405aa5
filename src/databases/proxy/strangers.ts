// Connections whose clients have not proved who they are: each has a time, and their number a limit.
import type { FatalError } from '#wire/messages.ts'

/** The time from the first byte to the password. */
const LOGIN_TIMEOUT_MS = 10_000
/** At a proxy. */
export const STRANGERS_MAX = 500
export const CROWDED: FatalError = {
  code: '53300',
  message: `too many logins at once: ${STRANGERS_MAX} are unfinished`,
  hint: 'Open connections one after another, or use a pool of connections.',
}

/** The reason of a login that made room for another one. */
export class CrowdedOut extends Error {}

export interface Stranger {
  /** Aborted when the login must end. */
  readonly signal: AbortSignal
  /** The client is known, or has gone. */
  leave(): void
}

/** The one that has taken longest makes room for the next: half-open connections keep nobody out. */
export function createStrangers(): () => Stranger {
  /** The oldest first. */
  const all = new Set<AbortController>()
  return () => {
    const [oldest] = all
    if (oldest !== undefined && all.size >= STRANGERS_MAX) {
      all.delete(oldest)
      oldest.abort(new CrowdedOut())
    }
    const login = new AbortController()
    all.add(login)
    const late = () => login.abort(new RangeError(`no login in ${LOGIN_TIMEOUT_MS} ms`))
    const timer = setTimeout(late, LOGIN_TIMEOUT_MS).unref()
    return {
      signal: login.signal,
      leave() {
        clearTimeout(timer)
        all.delete(login)
      },
    }
  }
}
