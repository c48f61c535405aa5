// Changes of credentials, which each session hears of before the change is answered: a token that has ended is refused
// from then on by every gateway.
import { sleep } from '#base/clock.ts'
import { permits, SCOPES, type Scope } from '#contract/operation.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { AccountMember } from './members.ts'

const HEARD_POLL_MS = 20
const HEARD_TIMEOUT_MS = 5000

/**
 * Revokes the tokens of a member whose scope is above `scope`, or all of them, and its sessions, and cuts what runs under
 * them; under
 * `ownToken`, that of the request, everything ends by itself. Returns the number of the change, for untilHeard().
 */
export async function endTokensAbove(
  transaction: Queryable,
  ending: {
    readonly member: Pick<AccountMember, 'id' | 'account'>
    readonly ownToken: string
    readonly scope: Scope | null
  },
): Promise<string> {
  const { member, ownToken, scope } = ending
  const ended = SCOPES.filter((one) => scope === null || !permits(scope, one))
  const { rows } = await transaction.query<{ id: string }>(
    `update tokens set revoked_at = now() where member = $1 and (scope = any($2) or is_session) and revoked_at is null returning id`,
    [member.id, ended],
  )
  for (const { id } of rows)
    if (id !== ownToken) await noteCredentialChange(transaction, id, member.account)
  // Its other tokens have another role from now on.
  return await noteCredentialChange(transaction, null, member.account)
}

/** The number of the change, which sessions reach by hearing of the change. */
export async function noteCredentialChange(
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

/** Waits until every live session has heard of a change of credentials, or has ended. */
export async function untilHeard(state: State, epoch: string, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HEARD_TIMEOUT_MS)])
  for (;;) {
    const { rows } = await state.query<{ behind: string }>(
      'select count(*) as behind from sessions where closed_at is null and until > now() and epoch < $1',
      [epoch],
    )
    if (rows[0]?.behind === '0') return
    await sleep(HEARD_POLL_MS, limit)
  }
}
