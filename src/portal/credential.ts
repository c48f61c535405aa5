// The credential of requests to the portal: the session in a cookie, and never a token. Its use moves its idle end.
import { ErgonError } from '#base/errors.ts'
import type { BrowserCredential } from '#http/protocol-handler.ts'
import type { Clock } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'
import type { HeaderList } from '#http/energy-headers.ts'
import type { Exchange } from '#http/exchange.ts'
import { confirmSession, isRenewalDue, keepSession } from '#identity/browser-sessions.ts'
import type { Identity } from '#identity/identity.ts'
import type { Principal } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import type { Cookie } from './cookies.ts'

const ENDED: ReadonlySet<string> = new Set(['token_unknown', 'token_revoked', 'token_expired'])

type Deps = {
  readonly identity: Identity
  readonly state: State
  readonly clock: Pick<Clock, 'wallMs'>
  readonly cookie: Cookie
}

export const createSessionCredential = (deps: Deps, headers: HeaderList): BrowserCredential => ({
  headers,
  identify(exchange, isOptional) {
    const text = deps.cookie.read(exchange.request.headers)
    if (text === undefined) {
      if (isOptional) return undefined
      throw fault('session_missing', 'Could not identify the caller: nobody is signed in')
    }
    return sessionOf(text, deps)
  },
})

/** True when somebody is signed in: the page at the root depends on that. */
export async function isSignedIn(exchange: Exchange, deps: Deps): Promise<boolean> {
  const text = deps.cookie.read(exchange.request.headers)
  if (text === undefined) return false
  try {
    await sessionOf(text, deps)
    return true
  } catch (error) {
    if (error instanceof ErgonError && error.code === 'session_ended') return false
    throw error
  }
}

/** The principal of a session; synchronous where it is known. Throws session_ended. */
function sessionOf(text: string, deps: Deps): Principal | Promise<Principal> {
  try {
    const found = deps.identity.identifySession(text)
    return found instanceof Promise
      ? found.then((caller) => kept(caller, deps), refuseEnded)
      : kept(found, deps)
  } catch (error) {
    return refuseEnded(error)
  }
}

function refuseEnded(error: unknown): never {
  if (error instanceof ErgonError && ENDED.has(error.code))
    throw fault('session_ended', 'Could not accept the session: it has ended')
  throw error
}

function kept(caller: Principal, { identity, state, clock }: Deps): Principal | Promise<Principal> {
  if (caller.session === undefined) return caller
  const { isNew } = caller.session
  if (!isNew && !isRenewalDue(caller.session, clock.wallMs())) return caller
  const written = isNew ? confirmSession(state, caller) : keepSession(state, caller.token)
  return written.then(() => {
    identity.forget([{ token: caller.token, account: caller.account }])
    return caller
  })
}
