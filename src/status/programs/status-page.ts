// The process of the status page. It serves files, so it answers without gateways and without the state.
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { ask } from '#node/cell-specs.ts'
import { serveInside } from '#node/inside.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import { createCountsReader } from '#status/page/counts.ts'
import { PAYMENTS_PART } from '#status/page/parts.ts'
import { httpProbe, postgresProbe, reachable } from '#status/page/probes.ts'
import { statusHeaders, serveStatus } from '#status/page/server.ts'
import { STYLE } from '#status/page/style.ts'
import { keepWriting } from '#status/page/writer.ts'

export type StatusPageConfig = {
  readonly state: StateAddress
  readonly folder: string
  /** The public address of the page. */
  readonly url: string
  readonly region: string
  readonly periodMs: number
  readonly listen: { readonly host: string; readonly port: number }
  readonly api: { readonly host: string; readonly port: number }
  /** Undefined where the node serves no portal. */
  readonly portal?: { readonly port: number; readonly host: string }
  /** Undefined where the node runs no databases. */
  readonly pgPort?: number
  readonly takesPayments: boolean
  readonly gatewaySockets: readonly string[]
  readonly ingress: { readonly socket: string; readonly port: number }
  readonly webhooksSocket: string
  readonly socket: string
  readonly logLevel: LogLevel
}

const PROCESS = 'status-page'
const CONNECTIONS = 1
/** No bucket has this name, and no token comes with it: object storage refuses, which is an answer. */
const NO_BUCKET = '/status-page-probe/none'
/** No route has this host (RFC 2606): the ingress refuses, which is an answer of its own. */
const NO_ROUTE = 'status-page-probe.invalid'

const config = await readConfig<StatusPageConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
giveWay()
const { folder, listen, gatewaySockets, ingress } = config
const host = reachable(config.api.host)
const api = { host, port: config.api.port }
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const server = await serveStatus({ folder, ...listen, headers: statusHeaders(STYLE) })
const ending = new AbortController()
const writing = keepWriting(
  {
    folder,
    url: config.url,
    ownRegion: config.region,
    periodMs: config.periodMs,
    state,
    probes: {
      api: httpProbe(api, { path: '/readyz', isGood: (status) => status === 200 }),
      storage: httpProbe(api, { path: NO_BUCKET, isGood: (status) => status < 500 }),
      databases:
        config.pgPort === undefined ? undefined : postgresProbe({ host, port: config.pgPort }),
      functions: httpProbe(
        { host, port: ingress.port },
        { path: '/', host: NO_ROUTE, isGood: (status) => status === 404 },
      ),
      portal:
        config.portal === undefined
          ? undefined
          : httpProbe(
              { host, port: config.portal.port },
              { path: '/', host: config.portal.host, isGood: (status) => status < 400 },
            ),
      webhooks: (signal) =>
        ask(config.webhooksSocket, '/readyz', signal).then(
          () => true,
          () => false,
        ),
    },
    counts: createCountsReader({ gatewaySockets, ingressSocket: ingress.socket }),
    missing: config.takesPayments ? [] : [PAYMENTS_PART],
    clock: systemClock,
    log,
  },
  ending.signal,
)
const inside = await serveInside(config.socket, { '/readyz': () => ({ ready: true }) })

process.once('SIGTERM', () => {
  ending.abort()
  void writing.then(async () => {
    await inside.close()
    await server.close()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
