// Looks at the payments that are not final yet, in turns of their accounts. So a payment goes on after any kill, whatever the facilitator says or does not say.
import type { Logger } from '#base/log.ts'
import { forEachPayment } from '#payments/for-each-payment.ts'
import type { Queryable } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import { inspectChain } from './inspect-chain.ts'
import { recordSight } from './record-sight.ts'
import { settle } from './settle.ts'
import { duePayments, type Watched } from './watched-payments.ts'

const BATCH = 20
/** A settlement without an answer for so long was cut off: longer than it may take. */
const CUT_OFF_S = 60

type WatchDeps = {
  readonly state: Queryable
  readonly log: Logger
  readonly chains: readonly TokenChain[]
}

export async function watchPayments(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const { state, log, chains } = deps
  const byNetwork = new Map(chains.map((chain) => [chain.network, chain]))
  const rows = await duePayments(state, [...byNetwork.keys()], BATCH)
  await forEachPayment({ rows, state, log, signal }, async (watched) => {
    const chain = byNetwork.get(watched.network)
    if (chain !== undefined) await watch(state, { chain, watched }, signal)
  })
}

/** Looks at a payment and records what follows. */
export async function watch(
  state: Queryable,
  of: { readonly chain: TokenChain; readonly watched: Watched },
  signal: AbortSignal,
): Promise<void> {
  const sight = await inspectChain(of.chain, of.watched, signal)
  await recordSight(state, of, sight)
  const { facilitator, network } = of.chain
  const { id, payload, ageS } = of.watched
  if (sight.kind !== 'absent' || payload === null || facilitator === undefined) return
  if (ageS < CUT_OFF_S) return
  await settle(state, facilitator, { id, network, request: payload as never, signal })
}
