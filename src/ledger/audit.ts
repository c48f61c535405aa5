// Sums new charges into the audited sums a moment after they are posted. Once a minute they were one second of CPU (30,000
// charges), which no rate of a request can follow: the operator paid most of it.
import { messageOf } from '#base/errors.ts'
import { sleep } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'

const EVERY_MS = 2000

/** Audits until the signal aborts; never rejects. The check of the books audits what is left where the state was away. */
export async function auditCharges(
  { state, log }: { readonly state: Queryable; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await state
      .query('select audit_charges() from books, log_head where size > audited')
      .catch((error: unknown) => log.debug('Charges were not audited', { error: messageOf(error) }))
    await sleep(EVERY_MS, signal).catch(() => undefined)
  }
}
