// Sessions of browsers: opened by a passkey or a recovery code, renewed by use, ended by time, by their member, and by
// everything that ends the member's tokens.
import { newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import { RIGHTS, type MemberRole } from '#contract/identity/roles.ts'
import type { Queryable } from '#state/connect.ts'
import { recordAct, type ActingCall } from './audit.ts'
import { noteCredentialChange } from './credential-changes.ts'
import { hashToken, mintSession } from './token-text.ts'

/** The life of a session without a request, and its longest life in any case. */
export const SESSION_IDLE_HOURS = 12
export const SESSION_DAYS_MAX = 30
/** Time after a use of a passkey in which the member counts as present. */
export const TOUCH_MINUTES = 5
/** Sessions that a member has at once: another one ends the oldest. */
export const BROWSER_SESSIONS_MAX = 20

export const SESSION_NAME = 'portal session'
/** A use renews the idle time at most this often. */
const RENEW_EVERY_MS = 5 * 60_000
const IDLE_MS = SESSION_IDLE_HOURS * 3_600_000
const IDLE = `interval '${SESSION_IDLE_HOURS} hours'`
/** Time after the first use of a session's new text in which the text before is still known. */
const PREVIOUS_S = 10
const TOUCHED_UNTIL = `now() + interval '${TOUCH_MINUTES} minutes'`

type SessionMember = { readonly id: string; readonly account: string; readonly role: MemberRole }

export type OpenedSession = {
  readonly id: string
  readonly text: string
  /** The number of the change that ended the oldest session, for untilHeard(), where there were too many. */
  readonly epoch: string | undefined
}

/**
 * Opens a session; its text is returned here and nowhere else. `passkey` is the id of the passkey that was used. Without
 * it a recovery code was used, and the session is limited. Throws account_deleting where the removal of the account has begun.
 */
export async function openBrowserSession(
  transaction: Queryable,
  opened: {
    readonly member: SessionMember
    readonly passkey: string | undefined
    readonly client: string
    readonly spend: ActingCall['spend']
  },
): Promise<OpenedSession> {
  const { member, passkey, client, spend } = opened
  const text = mintSession()
  const id = newId('tok')
  const { rowCount } = await transaction.query(
    `insert into tokens (id, account, member, hash, hint, name, scope, is_session, expires_at)
     select $1, $2, $3, $4, '', $5, $6, true, now() + ${IDLE}
     where not exists (select from account_deletions where account = $2 and begun_at is not null)`,
    [id, member.account, member.id, hashToken(text), SESSION_NAME, RIGHTS[member.role].scope],
  )
  if (rowCount === 0)
    throw fault('account_deleting', 'Could not open a session: the account is being deleted')
  const isLimited = passkey === undefined
  await transaction.query(
    `insert into browser_sessions (token, ends_at, touched_until, is_limited, passkey, client)
     values ($1, now() + interval '${SESSION_DAYS_MAX} days', ${isLimited ? 'now()' : TOUCHED_UNTIL}, $2, $3, $4)`,
    [id, isLimited, passkey ?? null, client],
  )
  const caller = { account: member.account, token: id }
  return { id, text, epoch: await endOldest(transaction, member, { caller, spend }) }
}

/**
 * The member of a session has used a passkey: another text of the session, which is no longer limited. The text before is
 * known until the new one is in use, see confirmSession(); that of a limited session ends at once.
 */
export async function renewSession(
  transaction: Queryable,
  session: { readonly token: string; readonly account: string; readonly passkey: string },
): Promise<{ readonly text: string; readonly epoch: string }> {
  const text = mintSession()
  // The browser may never have received a text that was not used yet: it still has the text before.
  await transaction.query(
    `update browser_sessions s set touched_until = ${TOUCHED_UNTIL}, is_limited = false, passkey = coalesce(s.passkey, $2),
       previous_hash = case when s.is_limited then null when s.previous_until is null then coalesce(s.previous_hash, t.hash)
         else t.hash end, previous_until = null
     from tokens t where s.token = $1 and t.id = s.token`,
    [session.token, session.passkey],
  )
  await transaction.query('update tokens set hash = $2 where id = $1', [
    session.token,
    hashToken(text),
  ])
  // A change of the account cuts no request: this one has to be answered.
  return { text, epoch: await noteCredentialChange(transaction, null, session.account) }
}

/** Ends sessions of a member and cuts what runs under them; returns how many, and the number of the change. */
export async function endSessions(
  transaction: Queryable,
  {
    account,
    member,
    own,
    which,
  }: {
    readonly account: string
    readonly member: string
    /** The session of the request, which ends only by its id. */
    readonly own: string
    readonly which: { readonly id: string } | { readonly passkey: string } | 'limited'
  },
): Promise<{ readonly ended: number; readonly epoch: string }> {
  const [condition, ...values] =
    which === 'limited'
      ? ['s.is_limited and t.id <> $2', own]
      : 'id' in which
        ? ['t.id = $2', which.id]
        : ['s.passkey = $2 and t.id <> $3', which.passkey, own]
  const { rows } = await transaction.query<{ id: string }>(
    `update tokens t set revoked_at = now() from browser_sessions s
     where s.token = t.id and t.member = $1 and t.revoked_at is null and ${condition} returning t.id`,
    [member, ...values],
  )
  for (const { id } of rows) await noteCredentialChange(transaction, id, account)
  return { ended: rows.length, epoch: await noteCredentialChange(transaction, null, account) }
}

/** Ends the sessions of a member that are too many, at the request of the newest. */
async function endOldest(
  transaction: Queryable,
  { id, account }: SessionMember,
  call: ActingCall,
): Promise<string | undefined> {
  const { rows } = await transaction.query<{ id: string }>(
    `update tokens set revoked_at = now() where id in (
       select id from tokens where member = $1 and is_session and revoked_at is null and expires_at > now()
       order by id desc offset $2) returning id`,
    [id, BROWSER_SESSIONS_MAX],
  )
  let epoch: string | undefined
  for (const { id: target } of rows) {
    const details = { sessions_max: BROWSER_SESSIONS_MAX }
    await recordAct(transaction, call, { action: 'session.remove', target, details })
    epoch = await noteCredentialChange(transaction, target, account)
  }
  return epoch
}

/** True when the use of a session must be written down: five minutes have passed since the last time. */
export const isRenewalDue = (
  { idleUntilMs, endsMs }: { readonly idleUntilMs: number; readonly endsMs: number },
  nowMs: number,
): boolean => idleUntilMs < Math.min(nowMs + IDLE_MS - RENEW_EVERY_MS, endsMs)

/** Moves the idle end of a session that is used. */
export async function keepSession(state: Queryable, token: string): Promise<void> {
  await state.query(
    `update tokens t set expires_at = least(now() + ${IDLE}, s.ends_at) from browser_sessions s
     where t.id = $1 and s.token = t.id and t.revoked_at is null and t.expires_at > now()`,
    [token],
  )
}

/** The new text of a session is in use: the one before ends at every gateway in a few seconds. */
export async function confirmSession(
  state: Queryable,
  { token, account }: { readonly token: string; readonly account: string },
): Promise<void> {
  await state.query(
    `with confirmed as (
       update browser_sessions set previous_until = now() + interval '${PREVIOUS_S} seconds'
       where token = $1 and previous_until is null returning token)
     select change_credentials(null, $2) from confirmed`,
    [token, account],
  )
}

export type BrowserSessionRow = {
  readonly id: string
  readonly client: string
  readonly created_at: Date
  readonly expires_at: Date
  readonly ends_at: Date
}

/** The sessions of a member that have not ended, the newest first. */
export async function sessionsOf(
  state: Queryable,
  member: string,
): Promise<readonly BrowserSessionRow[]> {
  const { rows } = await state.query<BrowserSessionRow>(
    `select t.id, s.client, t.created_at, t.expires_at, s.ends_at
     from tokens t join browser_sessions s on s.token = t.id
     where t.member = $1 and t.revoked_at is null and t.expires_at > now() order by t.id desc limit $2`,
    [member, BROWSER_SESSIONS_MAX],
  )
  return rows
}
