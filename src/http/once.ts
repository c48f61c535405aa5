// A request begins its work once for its Idempotency-Key, whatever becomes of the request: a client that leaves, a
// killed gateway, a processor that does not answer. The fact and the key's note of it are one transaction.
import type { Queryable, State } from '#state/connect.ts'
import type { OperationCall } from './reply.ts'

/**
 * The result of the transaction that `prepare` gives, or of that of an earlier request with the same key; then nothing is
 * prepared. The result is plain JSON. Each repetition does again all that follows, which must do nothing twice.
 */
export async function once<Made extends object>(
  { begun }: Pick<OperationCall, 'begun'>,
  state: Pick<State, 'transaction'>,
  prepare: () => Begin<Made> | Promise<Begin<Made>>,
): Promise<Made> {
  if (begun?.before !== undefined) return begun.before as Made
  const begin = await prepare()
  return await state.transaction(async (transaction) => {
    const made = await begin(transaction)
    await begun?.keep(transaction, made)
    return made
  })
}

type Begin<Made> = (transaction: Queryable) => Promise<Made>
