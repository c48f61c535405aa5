// Asks each facilitator, once after the start, whether it settles payments as we offer them (GET /supported of x402).
// One that does not would refuse every payment, which callers alone would see.
import { sleep } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { Queryable } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import { supportedKinds } from './facilitator.ts'

/** Between two requests to a facilitator that is away. */
const AGAIN_MS = 60_000

type Deps = {
  readonly state: Queryable
  readonly log: Logger
  readonly chains: readonly TokenChain[]
}

/** Ends once all have answered, or when the signal aborts; never rejects. */
export async function checkFacilitators(deps: Deps, signal: AbortSignal): Promise<void> {
  let unanswered = deps.chains
  while (!signal.aborted) {
    const left: TokenChain[] = []
    for (const chain of unanswered)
      if (!(await check(deps, chain, signal).catch((error) => noAnswer(deps, chain, error))))
        left.push(chain)
    if (left.length === 0) return
    unanswered = left
    await sleep(AGAIN_MS, signal).catch(() => undefined)
  }
}

async function check({ state, log }: Deps, chain: TokenChain, signal: AbortSignal): Promise<true> {
  const { facilitator, network } = chain
  if (facilitator === undefined) return true
  const kinds = await supportedKinds(facilitator, signal)
  const isFit = kinds.some(
    (kind) => kind.x402Version === 2 && kind.scheme === 'exact' && kind.network === network,
  )
  if (isFit) return true
  log.error('The facilitator does not settle payments of this network', { network })
  await raiseAlarm(state, 'stablecoin_facilitator_unfit', { network }, { key: network })
  return true
}

function noAnswer({ log }: Deps, { network }: TokenChain, error: unknown): boolean {
  // The state is away, or a facilitator: both may come back.
  log.warn('A facilitator could not be asked what it settles', {
    network,
    error: error instanceof ErgonError ? error.message : error,
  })
  return false
}
