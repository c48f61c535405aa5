// The ingress as a process: it answers at the routes of what accounts run, also while gateways and state are away.
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { createServer } from '#base/node-http.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { answerRequest } from '#ingress/answer.ts'
import { followRoutes, RouteTable } from '#ingress/routes.ts'
import { createTurns } from '#ingress/turns.ts'
import { createInstanceUses } from '#ingress/uses.ts'
import { limitAddresses } from '#http/address-limit.ts'
import { CONNECTION_CHECK_MS, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS } from '#http/limits.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import type { FunctionsAddress } from '#contract/functions-address.ts'
import { FUNCTION_TIMEOUT_S_MAX } from '#contract/function-limits.ts'
import { serveInside } from '#node/inside.ts'
import { connectState, type StateAddress } from '#state/connect.ts'

export type IngressConfig = {
  readonly state: StateAddress
  readonly agent: AgentSocket
  /** Where accounts have addresses; undefined where they have none. */
  readonly address: FunctionsAddress | undefined
  /** The meter whose tariff is billed. */
  readonly meter: string
  readonly listen: { readonly host: string; readonly port: number }
  /** Connections of these are those of many clients. */
  readonly trustedProxies: readonly string[]
  readonly socket: string
  readonly logLevel: LogLevel
}

const PROCESS = 'ingress'
const STATE_CONNECTIONS = 1
const HEADER_BYTES_MAX = 32_768
const HEADERS_MAX = 200
const CONNECTIONS_MAX = 2000
const CONNECTIONS_OF_ADDRESS_MAX = 200
/** A connection on which nothing moves: longer than a function may take to start and to answer. */
const SILENCE_MS_MAX = (FUNCTION_TIMEOUT_S_MAX + 90) * 1000
/** Requests that run may end; then they are cut. */
const DRAIN_MS = 5000

const config = await readConfig<IngressConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
const state = connectState({ address: config.state, connections: STATE_CONNECTIONS, log })
const routes = new RouteTable(config.address)
const uses = createInstanceUses(config.agent)
const turns = createTurns()
const ending = new AbortController()
const following = followRoutes(routes, { state, meter: config.meter, log }, ending.signal)
const server = createServer(
  {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    // A body may take as long as the function does, which ends the request.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    // Our own check answers, with a body.
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
  },
  (request, response) => void answerRequest(request, response, { routes, uses, turns, log }),
)
server.maxHeadersCount = HEADERS_MAX
server.maxConnections = CONNECTIONS_MAX
server.timeout = SILENCE_MS_MAX
limitAddresses(server, CONNECTIONS_OF_ADDRESS_MAX, config.trustedProxies)
await new Promise<void>((resolve, reject) => {
  server.once('error', reject)
  server.listen({ host: config.listen.host, port: config.listen.port }, () => resolve())
})
const inside = await serveInside(config.socket, { '/readyz': () => ({ ready: true }) })

process.once('SIGTERM', () => {
  ending.abort()
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  server.close(() => {
    clearTimeout(cut)
    uses.close()
    void following.then(async () => {
      await inside.close()
      await state[Symbol.asyncDispose]()
      process.exit(0)
    })
  })
  server.closeIdleConnections()
})
onParentGone(() => process.exit(0))
