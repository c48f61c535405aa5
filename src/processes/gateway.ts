// A gateway: serves its products on TCP, with a journal of its own, and answers the agent on a unix socket. It needs
// the state to start; afterwards it answers from memory while the state is away.
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { createAccountLoad } from '#http/account-load.ts'
import { trustsOf } from '#http/address-limit.ts'
import { createApiProtocol } from '#http/api-protocol.ts'
import { createHostRule } from '#http/host-rule.ts'
import { createIdempotency } from '#http/idempotency.ts'
import { createRequestRates } from '#http/request-rates.ts'
import { listen } from '#http/server.ts'
import { createExposures } from '#identity/exposures.ts'
import { createDamageWatch } from '#ledger/bundles/damage.ts'
import { serveInside } from '#node/inside.ts'
import { tuneForRequests } from '#node/program-flags.ts'
import { openGatewayCore } from './gateway-core.ts'
import type { GatewayConfig } from './gateway-config.ts'
import { openGatewayParts } from './gateway-parts.ts'
import { GATEWAY_PRODUCTS } from './products/gateway.ts'

const FIRST_TICK_MS_MAX = 30_000

const config = await readConfig<GatewayConfig>()
const log = createLogger(config.name, { level: config.logLevel })
endOnFault(log)
const core = await openGatewayCore(config, log)
const { lookUps: state, session, identity, charging, counts, baseUrl } = core
const parts = await openGatewayParts(GATEWAY_PRODUCTS, core, config.products)
const { endpoints, protocols, refusalFacts } = parts
const api = createApiProtocol({ identity, baseUrl, endpoints, refusalFacts })
// Price, tariff and epoch come with the first tick: no request is answered before.
await session.tickNow(AbortSignal.timeout(FIRST_TICK_MS_MAX))
const shared = {
  charging,
  idempotency: createIdempotency({ state, session, clock: systemClock, log }),
  accounts: createAccountLoad(config.accountRequests),
  rates: createRequestRates(config.accountRate, systemClock),
  counts,
  refusals: core.refusals,
  exposures: createExposures({ state, identity, clock: systemClock, log }),
  failures: createDamageWatch({ state, log }),
  clock: systemClock,
  log,
  bodyMemoryBytes: config.bodyMemoryBytes,
  trusts: trustsOf(config.trustedProxies),
  ...config.listen,
}
const server = await listen({
  ...shared,
  protocolOf: createHostRule({ api, protocols, hosts: config.hosts, baseUrl }),
  fallback: api,
})
const sites = await Promise.all(
  parts.sites.map(({ port, open }) =>
    listen({ ...shared, port, ...open({ api, endpoints, protocols, refusalFacts }) }),
  ),
)
const inside = await serveInside(config.socket, { ...core.pages, ...parts.pages })
tuneForRequests()
log.info('Gateway answers', { port: server.port, session: session.id })

async function stop(reason: string): Promise<void> {
  log.info('Gateway stops', { reason })
  const begunMs = performance.now()
  parts.stopping()
  await Promise.all([server, ...sites].map((one) => one.drain(config.drainMs)))
  await parts.drained(config.drainMs - (performance.now() - begunMs))
  await inside.close()
  await core.closeAccounting()
  await parts.close()
  await core.close()
  process.exit(0)
}
// Records that a failed stop leaves are in the journal, for the next life.
const endStop = (error: unknown) => {
  log.error('The gateway could not stop in order', { error })
  process.exit(1)
}
let stopping: Promise<void> | undefined
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => (stopping ??= stop(signal).catch(endStop)))
// The state is gone with the agent: what is journaled waits for the next life.
onParentGone(() => process.exit(0))
