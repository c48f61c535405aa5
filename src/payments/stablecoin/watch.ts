// Looks at the payments that are not final yet, in turns of their accounts. So a payment goes on after any kill, whatever the facilitator says or does not say.
import type { Logger } from '#base/log.ts'
import { forEachPayment } from '#payments/for-each-payment.ts'
import type { Queryable } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import { inspectPayment } from './inspect-now.ts'
import { settle } from './settle.ts'
import { duePayments, noteCheck, type WatchedPayment } from './watched-payments.ts'

/** The most payments of a chain in a run. */
const BATCH = 20
/** Time without an answer after which a settlement was cut off: longer than it may take. */
const CUT_OFF_S = 60

type WatchDeps = {
  readonly state: Queryable
  readonly log: Logger
  readonly chains: readonly TokenChain[]
}

/** Each chain by itself: one whose nodes hang delays no other. */
export async function watchPayments(
  { state, log, chains }: WatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const ends = await Promise.allSettled(
    chains.map(async (chain) => {
      const rows = await duePayments(state, chain.network, BATCH)
      await forEachPayment({ rows, state, log, signal }, async (watched) => {
        await noteCheck(state, watched.id)
        await watch(state, { chain, watched }, signal)
      })
    }),
  )
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Looks at a payment and records what follows. */
async function watch(
  state: Queryable,
  of: { readonly chain: TokenChain; readonly watched: WatchedPayment },
  signal: AbortSignal,
): Promise<void> {
  const sight = await inspectPayment(state, of, signal)
  const { facilitator, network } = of.chain
  const { id, payload, ageS } = of.watched
  if (sight.kind !== 'absent' || payload === null || facilitator === undefined) return
  if (ageS < CUT_OFF_S) return
  await settle(state, facilitator, { id, network, request: payload as never, signal })
}
