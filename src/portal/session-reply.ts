// A session as its member sees it, and the reply that opens one.
import { present } from '#base/errors.ts'
import type { SessionReply } from '#contract/portal/portal.ts'
import type { MemberRole } from '#contract/identity/roles.ts'
import type { OperationCall, KnownReply } from '#http/reply.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import { OPERATOR_ACCOUNT } from '#identity/operator-account.ts'
import type { Queryable } from '#state/connect.ts'
import type { PortalParts } from './parts.ts'

const CLIENT_LENGTH_MAX = 200

/** The browser in its own words, without what terminals and pages would obey. */
export const clientOf = (headers: Readonly<Record<string, string | undefined>>): string =>
  (headers['user-agent'] ?? '').replaceAll(/[\p{Cc}\p{Cf}]/gu, '').slice(0, CLIENT_LENGTH_MAX)

/**
 * The reply with another text of a session, in its cookie. It waits until every gateway has heard of the change: of the text
 * before, or of a session that has ended to make room.
 */
export async function openedReply(
  { state, cookies }: Pick<PortalParts, 'state' | 'cookies'>,
  { signal }: Pick<OperationCall, 'signal'>,
  opened: { readonly text: string; readonly epoch: string | undefined; readonly reply: object },
  status = 200,
): Promise<KnownReply> {
  if (opened.epoch !== undefined) await untilHeard(state, opened.epoch, signal)
  const headers = cookies.session.set(opened.text)
  return { kind: 'known', status, headers, body: () => opened.reply }
}

type Row = {
  account: string
  account_name: string | null
  member: string
  member_name: string
  role: MemberRole
  is_first: boolean
  expires_at: Date
  touched_until: Date
  is_limited: boolean
  passkeys: number
  codes: number
  suspended_for: string | null
}

const SELECT = `select t.account, a.name as account_name, m.id as member, m.name as member_name, m.role,
  a.id = ${OPERATOR_ACCOUNT} as is_first,
  t.expires_at, s.touched_until, s.is_limited,
  (select count(*)::int from passkeys p where p.member = m.id) as passkeys,
  (select count(*)::int from recovery_codes c where c.member = m.id and c.used_at is null) as codes,
  (select reason from account_suspensions u where u.account = a.id) as suspended_for
  from tokens t join browser_sessions s on s.token = t.id join accounts a on a.id = t.account
  join members m on m.id = t.member where t.id = $1`

/** A session by the id of its token. */
export async function sessionReplyOf(state: Queryable, token: string): Promise<SessionReply> {
  const { rows } = await state.query<Row>(SELECT, [token])
  const row = present(rows[0], 'a session has a row')
  return {
    object: 'session',
    account_id: row.account,
    account_name: row.account_name,
    member: { id: row.member, name: row.member_name, role: row.role },
    is_operator: row.is_first && (row.role === 'owner' || row.role === 'admin'),
    expires_at: row.expires_at.toISOString(),
    touched_until: row.touched_until.toISOString(),
    must_add_passkey: row.is_limited,
    passkeys_count: row.passkeys,
    recovery_codes_left: row.codes,
    suspended_for: row.suspended_for,
  }
}
