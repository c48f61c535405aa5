// Limits of the passkeys and logins that wait at once: for a network or a session, and for all networks. A network that
// asks for more is refused alone: fifty of them are needed to shut others out, and a session is shut out by none.
import { blockOf } from '#base/subnets.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'

const NETWORK = 'network'
const SESSION = 'session'
const RETRY_AFTER_S = 10

/** The table of each, and the most that one network, one session and all networks may have there. */
export const WAITING = {
  passkeys: { table: 'passkey_challenges', [NETWORK]: 400, [SESSION]: 20, all: 20_000 },
  logins: { table: 'command_logins', [NETWORK]: 200, [SESSION]: 0, all: 10_000 },
} as const

/** A network, or the session of a member, that keeps something waiting. */
export type WaitingAsker = { readonly kind: typeof NETWORK | typeof SESSION; readonly name: string }

export const networkAsker = (address: string): WaitingAsker => ({
  kind: NETWORK,
  name: blockOf(address),
})
export const sessionAsker = (token: string): WaitingAsker => ({ kind: SESSION, name: token })

/** As the tables have it. */
export const askerText = ({ kind, name }: WaitingAsker): string => `${kind} ${name}`

/**
 * Throws rate_limit_exceeded where the asker has its share, and overloaded where all networks together have theirs. Requests
 * of the same moment may go beyond a share by their number.
 */
export async function demandShare(
  state: Queryable,
  what: keyof typeof WAITING,
  asker: WaitingAsker,
): Promise<void> {
  const { table, all, [asker.kind]: most } = WAITING[what]
  const isIn = `from ${table} where expires_at > now() and`
  const { rows } = await state.query<{ own: number; all: number }>(
    `select (select count(*)::int ${isIn} asker = $1) as own,
       (select count(*)::int from (select ${isIn} asker like '${NETWORK} %' limit $2) waiting) as all`,
    [askerText(asker), all],
  )
  const [found = { own: 0, all: 0 }] = rows
  if (found.own >= most)
    throw fault(
      'rate_limit_exceeded',
      `Could not ask for ${what}: ${most} of this ${asker.kind} wait`,
      { retryAfterS: RETRY_AFTER_S },
    )
  if (asker.kind === NETWORK && found.all >= all)
    throw fault('overloaded', `Could not ask for ${what}: too many wait`, {
      retryAfterS: RETRY_AFTER_S,
    })
}
