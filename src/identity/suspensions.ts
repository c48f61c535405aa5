// Suspended accounts: the operator stops what an account asks for and runs, and nothing is deleted. Its members can
// read the reason, their bills, and the audit log.
import { fault } from '#contract/errors.ts'
import type { Queryable, State } from '#state/connect.ts'
import { recordOperatorAct } from './audit.ts'
import { untilHeard } from './credential-changes.ts'
import { lockAccount } from './members.ts'
import { OPERATOR_ACCOUNT } from './operator-account.ts'

/** Undefined `reason`: the suspension ends. */
export type SuspensionChange = { readonly account: string; readonly reason: string | undefined }
/** Records the change in the audit log of its author; the log of the suspended account always has it. */
type RecordAsked = (transaction: Queryable) => Promise<void>

/**
 * Suspends an account or ends that; resolves when every gateway acts on it. Throws not_found, operator_account,
 * account_suspended for a suspended account, and account_not_suspended.
 */
export async function changeSuspension(
  state: State,
  { account, reason }: SuspensionChange,
  signal: AbortSignal,
  record: RecordAsked,
): Promise<void> {
  const epoch = await state.transaction(async (transaction) => {
    await lockAccount(transaction, account)
    await demandSuspendable(transaction, account)
    const action = reason === undefined ? 'account.resume' : 'account.suspend'
    const details = reason === undefined ? {} : { reason }
    await recordOperatorAct(transaction, account, { action, target: account, details })
    await record(transaction)
    const change = reason === undefined ? 'release_resources' : 'hold_resources'
    await transaction.query(`select ${change}($1, 'suspended')`, [account])
    // It writes an event, whose lock a tick waits for: last.
    const { rows } = await (reason === undefined
      ? transaction.query<{ epoch: string | null }>('select resume_account($1) as epoch', [account])
      : transaction.query<{ epoch: string | null }>('select suspend_account($1, $2) as epoch', [
          account,
          reason,
        ]))
    const made = rows[0]?.epoch ?? undefined
    if (made === undefined) throw unchanged(account, reason)
    return made
  })
  await untilHeard(state, epoch, signal)
}

const unchanged = (account: string, reason: string | undefined) =>
  reason === undefined
    ? fault('account_not_suspended', `Could not resume the account: "${account}"`)
    : fault('account_suspended', `Could not suspend the account: "${account}" is suspended`)

async function demandSuspendable(transaction: Queryable, account: string): Promise<void> {
  const { rows } = await transaction.query<{ is_operator: boolean }>(
    `select id = ${OPERATOR_ACCOUNT} as is_operator from accounts where id = $1 and id <> 'nobody'`,
    [account],
  )
  if (rows[0] === undefined)
    throw fault('not_found', `Could not find the account: "${account.slice(0, 100)}"`)
  if (rows[0].is_operator)
    throw fault('operator_account', "Could not suspend the account: it is the operator's own")
}
