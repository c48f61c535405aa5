// Looks up the account of a token in the state. Concurrent requests with one token share a lookup; lookups are
// bounded in number, and a refused token is looked up once a second.
import type { Clock } from '#base/clock.ts'
import { isId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import type { MemberRole } from '#contract/identity/roles.ts'
import type { Queryable } from '#state/connect.ts'
import type { BrowserSession, Principal } from './principal.ts'
import { createRefused, type TokenRefusal } from './refused.ts'
import { hashToken, isSessionText } from './token-text.ts'

const TRIES_MAX = 5
/** Look-ups that may wait for the state at once, each for another token. */
const WAITING_MAX = 256

export type KnownPrincipal = { readonly principal: Principal; readonly expiresMs: number }
type TokenRow = {
  id: string
  account: string
  member: string
  role: MemberRole
  scope: Scope
  env: 'live' | 'test'
  funded: boolean
  refuse_token_presign: boolean
  requests_per_minute: number | null
  rate_key: string
  budget: string | null
  is_deleting: boolean
  /** The removal of its account has begun: no reader may keep that from its end. */
  is_removed: boolean
  suspended_for: string | null
  /** The end of a session of the portal; null for other tokens. */
  session_ends_at: Date | null
  touched_until: Date | null
  is_limited: boolean | null
  previous_hash: Buffer | null
  previous_until: Date | null
  expires_at: Date | null
  revoked_at: Date | null
  epoch: string
}

export interface PrincipalLookups {
  /**
   * The principal of a text of the right form, or of a token's id. Throws, at once or later, token_unknown, token_revoked,
   * state_unavailable, overloaded, and what `found` throws.
   */
  find(text: string): Promise<Principal>
  /** Credentials have changed. */
  changed(): void
}

/**
 * `session` tells which changes of credentials it has seen: an older answer is asked for again. `found`
 * is called in the same turn as that check, so that no change can come in between.
 */
export function createLookUps(deps: {
  state: Queryable
  session: { readonly epoch: bigint }
  clock: Pick<Clock, 'monotonicMs'>
  found: (text: string, known: KnownPrincipal) => Principal
}): PrincipalLookups {
  const { state, session } = deps
  const refused = createRefused(deps.clock)
  const waiting = new Map<string, Promise<Principal>>()

  async function ask(text: string): Promise<Principal> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const row = await rowOf(text)
      if (row === undefined || row.revoked_at !== null || row.is_removed) {
        const why = row === undefined ? 'token_unknown' : 'token_revoked'
        refused.keep(text, why)
        throw tokenRefused(why)
      }
      // An answer that is older than a revocation would bring the revoked token back, and work begun on it would never
      // be cut.
      if (BigInt(row.epoch) < session.epoch) continue
      return deps.found(text, knownOf(row, row.previous_hash?.equals(hashToken(text)) === true))
    }
    throw lookUpSilent()
  }

  async function rowOf(text: string): Promise<TokenRow | undefined> {
    try {
      const [where, value] = isId('tok', text) ? [BY_ID, text] : [whereOf(text), hashToken(text)]
      return (await state.query<TokenRow>(`${LOOK_UP} where ${where}`, [value])).rows[0]
    } catch (cause) {
      throw lookUpSilent(cause)
    }
  }

  function begin(text: string): Promise<Principal> {
    if (waiting.size >= WAITING_MAX)
      throw fault('overloaded', 'Could not check the token: too many are being checked', {
        retryAfterS: 1,
      })
    const begun = ask(text)
    waiting.set(text, begun)
    const forget = () => waiting.delete(text)
    begun.then(forget, forget)
    return begun
  }

  return {
    find(text) {
      const why = refused.why(text)
      if (why !== undefined) throw tokenRefused(why)
      return waiting.get(text) ?? begin(text)
    },
    changed: refused.clear,
  }
}

const LOOK_UP = `select t.id, t.account, t.member, m.role, t.scope, t.expires_at,
  -- A session that has ended is asked for once a second, as a revoked token is.
  case when t.is_session and t.expires_at <= now() then t.expires_at else t.revoked_at end as revoked_at, a.env, a.funded,
  a.refuse_token_presign, t.requests_per_minute, coalesce(t.rate_key, t.id) as rate_key, t.budget,
  s.ends_at as session_ends_at, s.touched_until, s.is_limited, s.previous_hash, s.previous_until,
  d.account is not null as is_deleting, d.begun_at is not null as is_removed,
  u.reason as suspended_for,
  coalesce((select max(epoch) from credential_changes), 0) as epoch
from tokens t join accounts a on a.id = t.account join members m on m.id = t.member
  left join browser_sessions s on s.token = t.id
  left join account_deletions d on d.account = t.account
  left join account_suspensions u on u.account = t.account`

const BY_ID = 't.id = $1'
const BY_TEXT = 't.hash = $1'
const BY_SESSION = `t.id in (select id from tokens where hash = $1 union all
  select token from browser_sessions where previous_hash = $1 and coalesce(previous_until > now(), true))`
const whereOf = (text: string): string => (isSessionText(text) ? BY_SESSION : BY_TEXT)

export const lookUpSilent = (cause?: unknown) =>
  fault('state_unavailable', 'Could not check who asks: the state did not answer', {
    cause,
    retryAfterS: 1,
  })

const REFUSALS = { token_unknown: 'it is not known', token_revoked: 'it was revoked' } as const
export const tokenRefused = (why: TokenRefusal) =>
  fault(why, `Could not accept the token: ${REFUSALS[why]}`)

/** `isPrevious`: the session has another text by now, and with this one nobody counts as present. */
function knownOf(row: TokenRow, isPrevious: boolean): KnownPrincipal {
  const ends = [row.expires_at, isPrevious ? row.previous_until : null]
  return {
    principal: toPrincipal(isPrevious ? { ...row, touched_until: null } : row),
    expiresMs: Math.min(...ends.map((end) => end?.getTime() ?? Number.POSITIVE_INFINITY)),
  }
}

const toPrincipal = (row: TokenRow): Principal => ({
  account: row.account,
  token: row.id,
  member: row.member,
  role: row.role,
  scope: row.scope,
  env: row.env,
  funded: row.funded,
  refusesTokenPresign: row.refuse_token_presign,
  isDeleting: row.is_deleting,
  ...(row.suspended_for !== null && { suspendedFor: row.suspended_for }),
  ...(row.session_ends_at && { session: sessionOf(row, row.session_ends_at) }),
  ...(row.requests_per_minute !== null && {
    rate: { key: row.rate_key, perMinute: row.requests_per_minute },
  }),
  ...(row.budget !== null && { budgets: [row.budget] }),
})

const sessionOf = (row: TokenRow, endsAt: Date): BrowserSession => ({
  endsMs: endsAt.getTime(),
  idleUntilMs: row.expires_at?.getTime() ?? 0,
  touchedUntilMs: row.touched_until?.getTime() ?? 0,
  isLimited: row.is_limited === true,
  isNew: row.touched_until !== null && row.previous_hash !== null && row.previous_until === null,
})
