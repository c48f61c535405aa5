// Cards that are removed here are taken off at the processor, too: one that stays there could be charged, and nobody would
// see it.
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { forEachPayment } from './for-each-payment.ts'

const BATCH = 50

export type RemovedRow = { readonly reference: string | null; readonly page: string | null }

/** Before its row is removed. A card that is still to be given has a page, which is closed. */
export async function forgetThere(
  adapter: PaymentAdapter,
  { reference, page }: RemovedRow,
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
    'select id, reference from payment_methods where processor = $1 and to_forget order by id limit $2',
    [adapter.name, BATCH],
  )
  await forEachPayment({ rows, state, log, signal }, async ({ id, reference }) => {
    await adapter.forget(reference)
    await state.query('update payment_methods set to_forget = false where id = $1', [id])
  })
}
