// Inspects the chain for a caller who waits. Where the nodes give no clear answer, the watch does so again.
import type { Queryable } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import { inspectChain } from './inspect-chain.ts'
import { recordSight } from './record-sight.ts'
import { watchedPayment } from './watched-payments.ts'

export async function inspectNow(
  state: Queryable,
  { chain, id }: { readonly chain: TokenChain; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  const watched = await watchedPayment(state, id)
  if (watched === undefined) return
  await recordSight(state, { chain, watched }, await inspectChain(chain, watched, signal))
}
