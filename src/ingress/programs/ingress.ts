// The ingress as a process: it answers at the routes of functions and workloads, also while gateways and state are
// away.
import { join } from 'node:path'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import type { FunctionsAddress } from '#contract/functions/functions-address.ts'
import { trustsOf } from '#http/address-limit.ts'
import { ROUTED_COUNTS_PAGE } from '#http/counts-pages.ts'
import { createRequestLines } from '#http/request-lines.ts'
import { alarmOf, startAcme } from '#ingress/acme/acme.ts'
import type { AcmeSettings } from '#ingress/acme/acme-settings.ts'
import { createContexts, followCertificates } from '#ingress/certificates/contexts.ts'
import { routesFile } from '#ingress/kept-routes.ts'
import { followRoutes } from '#ingress/follow-routes.ts'
import { createRoutedCounter } from '#ingress/routed-counts.ts'
import { RouteTable } from '#ingress/routes.ts'
import { listenPlain, listenTls } from '#ingress/server.ts'
import { createTurns } from '#ingress/turns.ts'
import { createInstanceUses } from '#ingress/uses.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { serveInside } from '#node/inside.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { CAUSED_PAGE } from '#node/meter/caused-cpu.ts'
import { tuneForRequests } from '#node/program-flags.ts'
import { connectState, type StateAddress } from '#state/connect.ts'

export type IngressConfig = {
  readonly state: StateAddress
  readonly agent: AgentSocket
  /** Where accounts have addresses; undefined where they have none. */
  readonly address: FunctionsAddress | undefined
  /** The meter whose tariff is billed. */
  readonly meter: string
  /** Its folder in the data folder. */
  readonly folder: string
  readonly listen: { readonly host: string; readonly port: number }
  /** Undefined: no TLS. */
  readonly tlsPort: number | undefined
  /** The calm time after which a resource has fewer instances. */
  readonly calmMs: number
  /** Names with a certificate answer by HTTPS alone. */
  readonly isHttpsOnly: boolean
  /** Undefined: no certificates are ordered. */
  readonly acme: AcmeSettings | undefined
  /** Connections of these are those of many clients. */
  readonly trustedProxies: readonly string[]
  readonly socket: string
  readonly logLevel: LogLevel
}

const PROCESS = 'ingress'
const STATE_CONNECTIONS = 1

const config = await readConfig<IngressConfig>()
// After it: code that is compiled beforehand is compiled without these settings.
tuneForRequests()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
const state = connectState({ address: config.state, connections: STATE_CONNECTIONS, log })
const routes = new RouteTable(config.address)
const caused = createCausedByCells()
const counter = createRoutedCounter()
const uses = createInstanceUses({ agent: config.agent, caused }, config)
const trusts = trustsOf(config.trustedProxies)
const ending = new AbortController()
const file = routesFile(join(config.folder, 'routes.json'), log)
const following = followRoutes(routes, { state, meter: config.meter, file, log }, ending.signal)
const files = createContexts(log)
const acme =
  config.acme &&
  startAcme(
    config.acme,
    {
      folder: join(config.folder, 'acme'),
      routes,
      covered: files,
      alarm: alarmOf(state, log),
      log,
    },
    ending.signal,
  )
const contexts = { of: (name: string) => files.of(name) ?? acme?.contexts.of(name) }
const https = { port: config.tlsPort, isOnly: config.isHttpsOnly, contexts }
const { challenges } = acme ?? {}
const deps = {
  routes,
  uses,
  nobody: caused.nobody,
  turns: createTurns(),
  lines: createRequestLines(),
  ended: counter.ended,
  log,
  trusts,
  https,
  ...(challenges && { challenges }),
}
const servers = [await listenPlain({ ...deps, listen: config.listen })]
const certified = followCertificates(files, config.agent, { log, signal: ending.signal })
if (config.tlsPort !== undefined) {
  const listen = { host: config.listen.host, port: config.tlsPort }
  servers.push(await listenTls({ ...deps, listen }, contexts.of))
}
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [CAUSED_PAGE]: () => caused.totals(),
  [ROUTED_COUNTS_PAGE]: counter.read,
})

process.once('SIGTERM', () => {
  ending.abort()
  void (async () => {
    await Promise.all(servers.map((server) => server.drain()))
    uses.close()
    await Promise.all([following, certified, acme?.ended])
    await inside.close()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })()
})
onParentGone(() => process.exit(0))
