// Cards that are removed here are taken off at the processor, too: one that stays there could be charged, and nobody would
// see it.
import type { Logger } from '#base/log.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { forEachPayment, turn } from './for-each-payment.ts'

const BATCH = 50

type ProcessorPlace = { readonly reference: string | null; readonly page: string | null }
export type RemovedRow = ProcessorPlace & { readonly id: string; readonly processor: string }

/** Removes a card at its processor and here, with an audit entry; false where another call has removed it before. */
export async function removeMethod(
  { state, adapters }: { readonly state: State; readonly adapters: readonly PaymentAdapter[] },
  call: ActingCall,
  row: RemovedRow,
): Promise<boolean> {
  const adapter = adapters.find(({ name }) => name === row.processor)
  if (adapter !== undefined) await forgetThere(adapter, row)
  return await state.transaction(async (transaction) => {
    const { rowCount } = await transaction.query(
      // The processor's word of our own removal may have come before.
      `update payment_methods set state = 'removed', removed_at = ledger_now(),
         to_forget = reference is distinct from $2 where id = $1 and removed_at is null`,
      [row.id, row.reference],
    )
    if (rowCount === 0) return false
    await recordAct(transaction, call, { action: 'payment-method.delete', target: row.id })
    return true
  })
}

/** Before its row is removed. A card that is still to be given has a page, which is closed. */
export async function forgetThere(
  adapter: PaymentAdapter,
  { reference, page }: ProcessorPlace,
): Promise<void> {
  if (reference !== null) await adapter.forget(reference)
  else if (page !== null) await adapter.closePage(page)
}

/** Cards that the processor got while they were being removed, or after. */
export async function forgetRemoved(
  {
    state,
    adapter,
    log,
  }: { readonly state: Queryable; readonly adapter: PaymentAdapter; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { rows } = await state.query<{ id: string; reference: string }>(
    `select id, reference from payment_methods where processor = $1 and to_forget order by ${turn('payment_methods.id', 'id')} limit $2`,
    [adapter.name, BATCH],
  )
  await forEachPayment({ rows, state, log, signal }, async ({ id, reference }) => {
    await adapter.forget(reference)
    await state.query('update payment_methods set to_forget = false where id = $1', [id])
  })
}
