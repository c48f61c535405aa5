// Creates, looks up and revokes tokens. A gateway caches lookups while its session is fresh; each tick names
// the tokens to drop. revoke() returns only when no session can still honour the token, so "revoked at the
// next request" holds on every gateway.
import { LRUCache } from 'lru-cache'
import { sleep, type Clock } from '#base/clock.ts'
import { isId, newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import { ACCOUNT_TOKENS_MAX } from '#contract/tokens.ts'
import type { Queryable, State } from '#state/connect.ts'
import { recordAct, recordOperatorAct, type Asker } from './audit.ts'
import type { Principal } from './principal.ts'
import { createLookUps, tokenRefused, lookUpSilent, type Known } from './look-up.ts'
import { hashToken, hintOf, isTokenText, mintToken } from './token-text.ts'

const CACHE_MAX = 50_000
const REVOKE_POLL_MS = 20
const REVOKE_TIMEOUT_MS = 5000

export type MintedToken = { readonly id: string; readonly text: string }

/** Makes a token. `expiresAt` is optional; the text is returned here and nowhere else. */
export async function createToken(
  state: Queryable,
  token: { account: string; name: string; scope: Scope; expiresAt?: Date },
): Promise<MintedToken> {
  const text = mintToken()
  const id = newId('tok')
  await state.query(
    'insert into tokens (id, account, hash, hint, name, scope, expires_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [
      id,
      token.account,
      hashToken(text),
      hintOf(text),
      token.name,
      token.scope,
      token.expiresAt ?? null,
    ],
  )
  return { id, text }
}

/** Throws too_many_tokens where the account has no room for another valid token; nobody else adds one meanwhile. */
export async function demandTokenRoom(transaction: Queryable, account: string): Promise<void> {
  await transaction.query('select from accounts where id = $1 for no key update', [account])
  const { rowCount } = await transaction.query(
    `select from tokens where account = $1 and revoked_at is null
       and (expires_at is null or expires_at > now()) limit $2`,
    [account, ACCOUNT_TOKENS_MAX],
  )
  if (rowCount === ACCOUNT_TOKENS_MAX)
    throw fault(
      'too_many_tokens',
      `Could not create the token: an account has at most ${ACCOUNT_TOKENS_MAX} that are valid`,
    )
}

/**
 * Revokes a token and waits until every live session has heard of it or has ended: at most 2 s, the
 * life of a session that is cut off. Throws not_found when there is no such token.
 */
export async function revokeToken(state: State, id: string, signal: AbortSignal): Promise<void> {
  const epoch = await state.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ account: string }>(REVOKE, [id])
    if (rows[0] === undefined)
      throw fault('not_found', `Could not revoke the token: no token "${id}"`)
    await recordOperatorAct(transaction, rows[0].account, { action: 'token.revoke', target: id })
    return await changeCredentials(transaction, id, rows[0].account)
  })
  await untilHeard(state, epoch, signal)
}

/**
 * Changes a valid token of an account, and waits until every live session knows of it. Throws token_not_found for a token
 * that is not the account's, or has ended.
 */
export async function changeToken(
  state: State,
  token: Pick<EndingToken, 'account' | 'id'>,
  change: (transaction: Queryable) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const epoch = await state.transaction(async (transaction) => {
    await validToken(transaction, token)
    await change(transaction)
    // A change of the account makes sessions read the token again, and cuts no request.
    return await changeCredentials(transaction, null, token.account)
  })
  await untilHeard(state, epoch, signal)
}

/** A token of an account that is to end: at once, or after some seconds, so that its running requests go on. */
export type EndingToken = {
  readonly account: string
  readonly id: string
  readonly afterS: number
  /** From now on the token may only read. */
  readonly readsOnly: boolean
  readonly asker: Asker
}

/**
 * Ends a token, and waits as revokeToken() does. Throws token_not_found for a token that is not the account's, or has
 * ended before.
 */
export async function endToken(
  state: State,
  ending: EndingToken,
  signal: AbortSignal,
): Promise<void> {
  const epoch = await state.transaction(async (transaction) => {
    await validToken(transaction, ending)
    await recordAct(transaction, ending.asker, { action: 'token.revoke', target: ending.id })
    return await end(transaction, ending)
  })
  await untilHeard(state, epoch, signal)
}

/**
 * Makes a token with the name, scope, expiry and limits of another one, and ends that one as endToken() does. Throws
 * too_many_tokens where both are valid for a while, and the account has no room for both.
 */
export async function rotateToken(
  state: State,
  ending: EndingToken,
  signal: AbortSignal,
): Promise<MintedToken> {
  const { made, epoch } = await state.transaction(async (transaction) => {
    const { name, scope, expires_at: expiresAt } = await validToken(transaction, ending)
    if (ending.afterS > 0) await demandTokenRoom(transaction, ending.account)
    const made = await createToken(transaction, {
      account: ending.account,
      name,
      scope,
      ...(expiresAt === null ? {} : { expiresAt }),
    })
    await transaction.query(TAKE_LIMITS, [made.id, ending.id])
    const details = { replaced_by: made.id, overlap_s: ending.afterS }
    const act = { action: 'token.rotate', target: ending.id, details }
    await recordAct(transaction, ending.asker, act)
    return { made, epoch: await end(transaction, ending) }
  })
  await untilHeard(state, epoch, signal)
  return made
}

type ValidToken = { name: string; scope: Scope; expires_at: Date | null }

/** Locks a valid token of an account. */
async function validToken(
  state: Queryable,
  { account, id }: Pick<EndingToken, 'account' | 'id'>,
): Promise<ValidToken> {
  const { rows } = await state.query<ValidToken>(
    `select name, scope, expires_at from tokens
     where id = $1 and account = $2 and revoked_at is null and (expires_at is null or expires_at > now())
     for no key update`,
    [id, account],
  )
  if (rows[0] === undefined)
    throw fault('token_not_found', `Could not find a valid token: "${id.slice(0, 100)}"`)
  return rows[0]
}

const TAKE_LIMITS = `update tokens t set requests_per_minute = o.requests_per_minute, budget = o.budget
  from tokens o where t.id = $1 and o.id = $2`
const REVOKE =
  'update tokens set revoked_at = coalesce(revoked_at, now()) where id = $1 returning account'
const EXPIRE = `update tokens set expires_at = least(expires_at, now() + make_interval(secs => $2)),
  scope = case when $3 then 'read' else scope end where id = $1`

async function end(
  state: Queryable,
  { account, id, afterS, readsOnly }: EndingToken,
): Promise<string> {
  if (afterS === 0) {
    await state.query(REVOKE, [id])
    return await changeCredentials(state, id, account)
  }
  await state.query(EXPIRE, [id, afterS, readsOnly])
  // A change of the account makes sessions read the time of expiry again, and cuts no request.
  return await changeCredentials(state, null, account)
}

/** The number of the change, which sessions reach by hearing of the change. */
async function changeCredentials(
  state: Queryable,
  token: string | null,
  account: string,
): Promise<string> {
  const { rows } = await state.query<{ epoch: string }>(
    'select change_credentials($1, $2) as epoch',
    [token, account],
  )
  return rows[0]?.epoch ?? '0'
}

async function untilHeard(state: State, epoch: string, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(REVOKE_TIMEOUT_MS)])
  for (;;) {
    const { rows } = await state.query<{ behind: string }>(
      'select count(*) as behind from sessions where closed_at is null and until > now() and epoch < $1',
      [epoch],
    )
    if (rows[0]?.behind === '0') return
    await sleep(REVOKE_POLL_MS, limit)
  }
}

export interface Identity {
  /**
   * The principal of a bearer token. Synchronous when the token was seen before. Throws token_missing,
   * token_unknown, token_revoked, token_expired, state_unavailable, overloaded.
   */
  identify(authorization: string | undefined): Principal | Promise<Principal>
  /** The same for a token that came in another form, such as an S3 access key. */
  identifyToken(text: string): Principal | Promise<Principal>
  /** The same by the id of a token, which is no secret: who calls it has checked a signature. */
  identifyId(id: string): Principal | Promise<Principal>
  /** Forgets what a tick names, before anything else of that tick counts. */
  forget(changes: readonly { token: string | null; account: string }[]): void
}

/** `session` tells whether what is cached may be believed, and which changes it has seen. */
export function createIdentity(deps: {
  state: Queryable
  session: { readonly fresh: boolean; readonly epoch: bigint }
  clock: Clock
}): Identity {
  const { session, clock } = deps
  // Grows with its entries; with `max` instead its tables are made at once, which takes 12 ms and 1.6 MB.
  const cache = new LRUCache<string, Known>({ maxSize: CACHE_MAX, sizeCalculation: () => 1 })
  const lookUps = createLookUps({
    ...deps,
    found(text, known) {
      cache.set(text, known)
      return check(known)
    },
  })

  function check(known: Known): Principal {
    if (known.expiresMs <= clock.wallMs())
      throw fault('token_expired', 'Could not accept the token: it has expired')
    return known.principal
  }

  function identifyToken(text: string): Principal | Promise<Principal> {
    if (!session.fresh) throw lookUpSilent()
    return find(text, isTokenText)
  }

  function find(text: string, isForm: (text: string) => boolean): Principal | Promise<Principal> {
    const known = isForm(text) ? cache.get(text) : undefined
    if (known !== undefined) return check(known)
    if (!isForm(text)) throw tokenRefused('token_unknown')
    return lookUps.find(text)
  }

  return {
    identify(authorization) {
      if (authorization === undefined)
        throw fault('token_missing', 'Could not identify the caller: no Authorization header')
      const text = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1]
      if (text === undefined)
        throw fault(
          'token_missing',
          'Could not identify the caller: Authorization is not "Bearer <token>"',
        )
      return identifyToken(text)
    },
    identifyToken,
    identifyId(id) {
      if (!session.fresh) throw lookUpSilent()
      return find(id, (text) => isId('tok', text))
    },
    forget(changes) {
      lookUps.changed()
      for (const [text, { principal }] of cache) {
        const named = changes.some((change) =>
          change.token === null
            ? change.account === principal.account
            : change.token === principal.token,
        )
        if (named) cache.delete(text)
      }
    },
  }
}
