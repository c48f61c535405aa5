// The operator's account: the first of the node, which no deletion makes another one.
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { recordOperatorAct, type Act } from './audit.ts'
import type { Principal } from './principal.ts'

/** SQL of its id. */
export const OPERATOR_ACCOUNT = `(select id from accounts where id <> 'nobody' order by created_at, id limit 1)`

/** Records a change of the node, which is of no account: the operator's own account has the entry, once there is one. */
export async function recordNodeAct(transaction: Queryable, act: Act): Promise<void> {
  const { rows } = await transaction.query<{ id: string }>(
    `select id from accounts where id = ${OPERATOR_ACCOUNT}`,
  )
  for (const { id } of rows) await recordOperatorAct(transaction, id, act)
}

/** Throws operator_only for a caller of another account. */
export async function demandOperator(
  state: Queryable,
  { account }: Pick<Principal, 'account'>,
): Promise<void> {
  const { rowCount } = await state.query(
    `select from accounts where id = $1 and id = ${OPERATOR_ACCOUNT}`,
    [account],
  )
  if (rowCount === 0)
    throw fault('operator_only', "Could not show the node: the account is not the operator's")
}
