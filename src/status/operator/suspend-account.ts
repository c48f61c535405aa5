// Suspends an account and ends its suspension, with the entry of the audit log.
import { present } from '#base/errors.ts'
import type { OperationCall } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { changeSuspension } from '#identity/suspensions.ts'
import type { State } from '#state/connect.ts'

/**
 * `reason` undefined: the suspension ends. Two accounts have an entry: the suspended one, by changeSuspension(), and the
 * operator's, whose member asked. Throws as changeSuspension() does.
 */
export async function suspendAccount(
  state: State,
  call: OperationCall,
  reason: string | undefined,
): Promise<object> {
  const account = present(call.parameters['account'], 'the path has the account')
  const action = reason === undefined ? 'operator-account.resume' : 'operator-account.suspend'
  const details = reason === undefined ? {} : { reason }
  await changeSuspension(state, { account, reason }, call.signal, (transaction) =>
    recordAct(transaction, call, { action, target: account, details }),
  )
  return { id: account, object: 'account', suspended_for: reason ?? null }
}
