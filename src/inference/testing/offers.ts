// Offers and deps for tests.
import { Socket } from 'node:net'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import type { OperationCall } from '#http/reply.ts'
import { createCatalogue, type ModelOffer } from '#inference/catalogue.ts'
import type { InferenceDeps } from '#inference/generation.ts'
import { createFailures } from '#inference/failures.ts'
import { createLearned } from '#inference/learned.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { UPSTREAM_CONNECTIONS_MAX } from '#inference/providers/openai/upstream.ts'
import { createShares } from '#inference/shares.ts'
import { createWholeRule } from '#inference/whole.ts'
import { createStrictSpend, type StrictSpend } from './strict-spend.ts'

export const quietLog = createLogger('test', { write: () => {} })

export const offerOf = (more: Partial<ModelOffer> = {}): ModelOffer => ({
  id: 'small',
  provider: 'cell-small',
  upstreamId: 'upstream-small',
  routedTo: 'ergon/local/cpu-x64',
  ownedBy: 'ergon',
  createdS: 1_700_000_000,
  tier: 'L3',
  class: 'standard',
  modalities: ['text'],
  context: 2048,
  tools: 'trained',
  structured: true,
  njPerPromptToken: nj(1_000_000n),
  njPerCompletionToken: nj(2_000_000n),
  state: 'ready',
  ...more,
})

export function depsOf(
  offers: readonly ModelOffer[],
  providers: readonly Provider[],
): InferenceDeps {
  const byName = new Map(providers.map((provider) => [provider.name, provider]))
  return {
    catalogue: createCatalogue(offers),
    providers: byName,
    learned: createLearned(),
    clock: systemClock,
    shares: createShares(UPSTREAM_CONNECTIONS_MAX),
    whole: createWholeRule(),
    failures: createFailures({ log: quietLog, clock: systemClock, providers: byName }),
  }
}

/** A call as the pipeline hands it over; the signal aborts on `leave()` and on cut. */
export function callOf<Body>(
  body: Body,
  spend: StrictSpend = createStrictSpend(),
): OperationCall<Body> & { readonly spend: StrictSpend; leave(): void } {
  const gone = new AbortController()
  return {
    caller: {
      account: 'acct_1',
      token: 'tok_1',
      member: 'mem_1',
      role: 'owner',
      scope: 'read',
      env: 'test',
      funded: true,
      refusesTokenPresign: false,
    },
    arrive: () => undefined,
    arriveAsStranger: () => undefined,
    parameters: {},
    query: () => new URLSearchParams(),
    headers: {},
    socket: new Socket(),
    body,
    spend,
    signal: AbortSignal.any([gone.signal, spend.cut]),
    leave: () => gone.abort(fault('client_closed', 'The client has gone')),
  }
}
