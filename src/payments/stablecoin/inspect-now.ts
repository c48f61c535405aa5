// Inspects the chain for one payment and records what follows.
import type { Queryable } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import { inspectChain, type Sight } from './inspect-chain.ts'
import { recordSight } from './record-sight.ts'
import { watchedPayment, type WatchedPayment } from './watched-payments.ts'

/** For a caller who waits. Where the nodes give no clear answer, the watch does so again. */
export async function inspectNow(
  state: Queryable,
  { chain, id }: { readonly chain: TokenChain; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  const watched = await watchedPayment(state, id)
  if (watched !== undefined) await inspectPayment(state, { chain, watched }, signal)
}

/** Looks for the transfer of a payment, with the token and the receiver that the payment began with. */
export async function inspectPayment(
  state: Queryable,
  { chain, watched }: { readonly chain: TokenChain; readonly watched: WatchedPayment },
  signal: AbortSignal,
): Promise<Sight> {
  const { token, receiver } = watched
  const sight = await inspectChain({ ...chain, token, receiver }, watched, signal)
  await recordSight(state, { chain, watched }, sight)
  return sight
}
