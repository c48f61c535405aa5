// One call to a processor for each of some payments: where it fails, the others are made all the same.
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'

/** Failures of the processor are logged, and the payment stays due; others are thrown, as the state's are. */
export async function forEachPayment<R extends { readonly id: string }>(
  batch: { readonly rows: readonly R[]; readonly log: Logger; readonly signal: AbortSignal },
  call: (row: R) => Promise<unknown>,
): Promise<void> {
  for (const row of batch.rows) {
    batch.signal.throwIfAborted()
    try {
      await call(row)
    } catch (error) {
      if (!(error instanceof ErgonError) || error.code !== 'payment_processor_away') throw error
      batch.log.warn('A payment could not be carried on', { id: row.id, error })
    }
  }
}
