// The audit log of an account: who changed what. Operations that change something record that in the transaction of
// the change, so a change without its entry cannot be. Names of members and tokens are those of that time.
import { present } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Queryable } from '#state/connect.ts'

/** The call that asks for a change, or the deployment that makes it for an earlier call. */
export type ActingCall = {
  readonly caller: { readonly account: string; readonly token: string } | undefined
  readonly spend: { readonly requestId: string }
}

export type Act = {
  /** The operation, as in the API. */
  readonly action: string
  /** The id of the changed thing. */
  readonly target: string
  /** The wanted values. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Records a change that a token asked for; `transaction` is that of the change. */
export async function recordAct(
  transaction: Queryable,
  { caller, spend }: ActingCall,
  act: Act,
): Promise<void> {
  const { account, token } = present(caller, 'a change is asked for with a token')
  await insert(transaction, account, { token, request: spend.requestId }, act)
}

/** Records a change that the operator made. */
export const recordOperatorAct = (
  transaction: Queryable,
  account: string,
  act: Act,
): Promise<void> => insert(transaction, account, { isSystem: false }, act)

/** Records a change that no person asked for: a rule or a deletion that a member has set made it. */
export const recordSystemAct = (transaction: Queryable, account: string, act: Act): Promise<void> =>
  insert(transaction, account, { isSystem: true }, act)

type By = { readonly token: string; readonly request: string } | { readonly isSystem: boolean }

async function insert(
  transaction: Queryable,
  account: string,
  by: By,
  { action, target, details = {} }: Act,
): Promise<void> {
  const [token, request, isSystem] =
    'token' in by ? [by.token, by.request, false] : [null, null, by.isSystem]
  await transaction.query(
    `insert into audit_entries (id, account, action, token, request, target, details, by_system, token_name, member_name)
     select $1, $2, $3, $4, $5, $6, $7, $8, t.name, m.name
     from (values (1)) once left join tokens t on t.id = $4 left join members m on m.id = t.member`,
    [newId('aud'), account, action, token, request, target, JSON.stringify(details), isSystem],
  )
}
