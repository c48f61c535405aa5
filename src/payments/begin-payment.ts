// A payment begins as a row, before anything is asked of a processor or a chain.
import type { Pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'

/** Payments of an account that may be under way at once. */
export const PAYMENTS_OPEN_MAX = 5

export type NewPayment = {
  readonly id: string
  readonly account: string
  readonly processor: string
  readonly kind: 'hold' | 'topup'
  readonly amount: Pusd
  /** The card; null: none. */
  readonly method: string | null
}

/** Throws hold_exists, too_many_payments. */
export async function beginPayment(state: Queryable, payment: NewPayment): Promise<void> {
  const { id, account, processor, kind, amount, method } = payment
  const { rows } = await state.query<{ id: string | null; holds: boolean }>(
    `select begin_payment($1, $2, $3, $4, $5, $6, ${PAYMENTS_OPEN_MAX}) as id,
       $4 = 'hold' and exists (select from payments where account = $2 and kind = 'hold'
         and not payment_came_to_nothing(state)) as holds`,
    [id, account, processor, kind, amount.toString(), method],
  )
  if (rows[0]?.id != null) return
  if (rows[0]?.holds === true)
    throw fault('hold_exists', 'Could not begin the hold: the account has one')
  throw fault(
    'too_many_payments',
    `Could not begin the payment: ${PAYMENTS_OPEN_MAX} are under way`,
  )
}
