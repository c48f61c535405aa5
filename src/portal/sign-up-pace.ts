// The accounts that a network makes in a day. They are counted in the state, in the transaction of the account: a count in
// the memory of gateways would begin anew at each start, and be another one in each gateway.
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'

/** Sign-ups of a network in a day of UTC. Each account has free joules of its own. */
export const SIGN_UPS_PER_DAY = 20

const TODAY = `(now() at time zone 'UTC')::date`
const TOMORROW_S = `ceil(extract(epoch from (${TODAY} + 1) - (now() at time zone 'UTC')))::int`

/** Throws rate_limit_exceeded where the network has made its accounts of today. */
export async function demandSignUp(state: Queryable, network: string): Promise<void> {
  const { rows } = await state.query<{ seconds: number }>(
    `select ${TOMORROW_S} as seconds from sign_ups where network = $1 and day = ${TODAY} and accounts >= $2`,
    [network, SIGN_UPS_PER_DAY],
  )
  if (rows[0] !== undefined)
    throw fault(
      'rate_limit_exceeded',
      `Could not sign up: this network has made ${SIGN_UPS_PER_DAY} accounts today`,
      { retryAfterS: rows[0].seconds },
    )
}

/** Counts an account. Throws as demandSignUp() does: those who sign up at the same moment wait for each other. */
export async function countSignUp(transaction: Queryable, network: string): Promise<void> {
  const { rowCount } = await transaction.query(
    `insert into sign_ups as s (network, day, accounts) values ($1, ${TODAY}, 1)
     on conflict (network, day) do update set accounts = s.accounts + 1 where s.accounts < $2`,
    [network, SIGN_UPS_PER_DAY],
  )
  if (rowCount === 0) await demandSignUp(transaction, network)
}
