// The principal of a token. A gateway caches look-ups while its session is fresh; each tick names the tokens to drop.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'
import { isId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'
import type { Principal } from './principal.ts'
import { createLookUps, tokenRefused, lookUpSilent, type KnownPrincipal } from './look-up.ts'
import { isSessionText, isTokenText } from './token-text.ts'

const CACHE_MAX = 50_000

export interface Identity {
  /**
   * The principal of a bearer token. Synchronous when the token was seen before. Throws token_missing,
   * token_unknown, token_revoked, token_expired, state_unavailable, overloaded.
   */
  identify(authorization: string | undefined): Principal | Promise<Principal>
  /** The same for a token that came in another form, such as an S3 access key. */
  identifyToken(text: string): Principal | Promise<Principal>
  /** The same for the text of a browser's session, which is no token anywhere else. */
  identifySession(text: string): Principal | Promise<Principal>
  /** The same by the id of a token, which is no secret: the caller of this function has checked a signature. */
  identifyId(id: string): Principal | Promise<Principal>
  /** Forgets what a tick names, before anything else of that tick counts. */
  forget(changes: readonly PrincipalChange[]): void
}

type PrincipalChange = { readonly token: string | null; readonly account: string }

/** `session` tells whether what is cached may be believed, and which changes it has seen. */
export function createIdentity(deps: {
  state: Queryable
  session: { readonly fresh: boolean; readonly epoch: bigint }
  clock: Clock
}): Identity {
  const { session, clock } = deps
  // Grows with its entries; with `max` instead its tables are made at once, which takes 12 ms and 1.6 MB.
  const cache = new LRUCache<string, KnownPrincipal>({
    maxSize: CACHE_MAX,
    sizeCalculation: () => 1,
  })
  const lookUps = createLookUps({
    ...deps,
    found(text, known) {
      cache.set(text, known)
      return check(known)
    },
  })

  function check(known: KnownPrincipal): Principal {
    if (known.expiresMs <= clock.wallMs())
      throw fault('token_expired', 'Could not accept the token: it has expired')
    return known.principal
  }

  /** The end of a session moves with its use, at another gateway too. */
  const mayHaveMoved = ({ principal, expiresMs }: KnownPrincipal): boolean =>
    principal.session !== undefined && expiresMs <= clock.wallMs()

  function identifyToken(text: string): Principal | Promise<Principal> {
    if (!session.fresh) throw lookUpSilent()
    return find(text, isTokenText)
  }

  function find(text: string, isForm: (text: string) => boolean): Principal | Promise<Principal> {
    const known = isForm(text) ? cache.get(text) : undefined
    if (known !== undefined && !mayHaveMoved(known)) return check(known)
    if (!isForm(text)) throw tokenRefused('token_unknown')
    return lookUps.find(text)
  }

  return {
    identify: (authorization) => identifyToken(bearerOf(authorization)),
    identifyToken,
    identifySession(text) {
      if (!session.fresh) throw lookUpSilent()
      return find(text, isSessionText)
    },
    identifyId(id) {
      if (!session.fresh) throw lookUpSilent()
      return find(id, (text) => isId('tok', text))
    },
    forget(changes) {
      lookUps.changed()
      for (const [text, { principal }] of cache)
        if (changes.some((change) => isAbout(change, principal))) cache.delete(text)
    },
  }
}

/** The token of an Authorization header. Throws token_missing. */
function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined)
    throw fault('token_missing', 'Could not identify the caller: no Authorization header')
  const text = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1]
  if (text !== undefined) return text
  throw fault(
    'token_missing',
    'Could not identify the caller: Authorization is not "Bearer <token>"',
  )
}

/** A change without a token is about all tokens of its account. */
const isAbout = ({ token, account }: PrincipalChange, principal: Principal): boolean =>
  token === null ? account === principal.account : token === principal.token
