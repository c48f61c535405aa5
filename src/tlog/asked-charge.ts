// A receipt that a service gives for an id must be the receipt of that id. A sound receipt of another charge proves nothing.
import type { Charge } from '#contract/ledger/charge.ts'

/**
 * The reason, as text, why a charge is not that of the id of a receipt or of a request that a reader asked for. Undefined
 * where the charge is the right one.
 */
export function otherCharge(
  id: string,
  charge: Pick<Charge, 'id' | 'request'>,
): string | undefined {
  const own = id.startsWith('req_') ? charge.request : charge.id
  if (own === id) return undefined
  return `This is the receipt of ${own}, and ${id} was asked for`
}
