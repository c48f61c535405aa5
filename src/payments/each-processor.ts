// The same work for each processor.
import { messageOf } from '#base/errors.ts'
import type { PaymentAdapter } from './adapter.ts'

/**
 * Side by side, so that a processor which is away or slow holds up no other one. Then throws what has failed: of several
 * processors one error with all their messages.
 */
export async function eachProcessor<Adapter extends Pick<PaymentAdapter, 'name'>>(
  adapters: readonly Adapter[],
  work: (adapter: Adapter) => Promise<void>,
): Promise<void> {
  const ended = await Promise.allSettled(adapters.map(work))
  const failed = ended.flatMap((one, nth) =>
    one.status === 'rejected' ? [{ name: adapters[nth]?.name, error: one.reason as unknown }] : [],
  )
  if (failed.length === 1) throw failed[0]?.error
  if (failed.length > 1)
    throw new AggregateError(
      failed.map(({ error }) => error),
      failed.map(({ name, error }) => `${name}: ${messageOf(error)}`).join('; '),
    )
}
