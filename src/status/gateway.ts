// The service's own pages in a gateway: health, readiness, metrics, and the node as its operator sees it on the portal.
import { gpuMeterOf } from '#contract/ledger/charge.ts'
import {
  parseAccountSuspension,
  parseIncidentOpening,
  parseIncidentTelling,
} from '#contract/operator/operator.ts'
import type { OPERATOR } from '#contract/operator/operations.ts'
import { Secret } from '#base/log.ts'
import { recordsOf } from '#http/account-records.ts'
import { COUNTS_PAGE, type CountsPage } from '#http/counts-pages.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import type { Endpoint } from '#http/protocol-handler.ts'
import type { State } from '#state/connect.ts'
import { taskFigures } from '#tasks/admin.ts'
import { createIncidents } from './incidents.ts'
import { booksFigures } from './metrics/books-figures.ts'
import { createGatewayMetrics, METRICS_PAGE } from './metrics/gateway-metrics.ts'
import { powerFigures } from './metrics/power-figures.ts'
import { webhookFigures } from './metrics/webhook-figures.ts'
import type { FactsDeps } from './operator/read-facts.ts'
import { keepAccountCounts } from './error-rates/keep-counts.ts'
import { createErrorRateGet } from './operations/error-rate-get.ts'
import { createOperatorAccountList } from './operations/operator-account-list.ts'
import { createOperatorAccountResume } from './operations/operator-account-resume.ts'
import { createOperatorAccountSuspend } from './operations/operator-account-suspend.ts'
import { createOperatorAlarmAcknowledge } from './operations/operator-alarm-acknowledge.ts'
import { createOperatorAlarmList } from './operations/operator-alarm-list.ts'
import { createOperatorBooksGet } from './operations/operator-books-get.ts'
import { createOperatorIncidentClose } from './operations/operator-incident-close.ts'
import { createOperatorIncidentList } from './operations/operator-incident-list.ts'
import { createOperatorIncidentOpen } from './operations/operator-incident-open.ts'
import { createOperatorIncidentUpdate } from './operations/operator-incident-update.ts'
import { createOperatorLogGet } from './operations/operator-log-get.ts'
import { createOperatorNodeGet } from './operations/operator-node-get.ts'
import { createProbeGet } from './operations/probe-get.ts'
import { createPublicNameRenew } from './operations/public-name-renew.ts'
import { createHealth } from './operations/service-health.ts'
import { createMetrics } from './operations/service-metrics.ts'
import { createReady } from './operations/service-ready.ts'

export type StatusSettings = {
  /** Between two writes of counts by account. */
  readonly countsMs: number
  /** Between two probes of a component; 0: none. */
  readonly probeS: number
  readonly meter: string
  readonly region: string
  readonly metricsToken?: string
}

const NAMES_OF = `select name as place, name from public_names
  where account = $1 and name > $2 order by name limit $3`

export const STATUS_GATEWAY: GatewayProduct<StatusSettings> = { name: 'status', open }

function open(
  core: GatewayCore,
  { countsMs, probeS, meter, region, metricsToken }: StatusSettings,
): GatewayPart {
  const { readers, unready, counts, log } = core
  const { accounts } = counts
  const keeper = keepAccountCounts({ state: readers, accounts, periodMs: countsMs, log })
  const metrics = createGatewayMetrics({
    ...core,
    books: () => booksFigures(readers),
    power: () => powerFigures(readers, meter),
    gpuPower: () => powerFigures(readers, gpuMeterOf(meter)),
    tasks: () => taskFigures(readers),
    webhooks: () => webhookFigures(readers),
  })
  const token = metricsToken === undefined ? undefined : new Secret(metricsToken)
  return {
    endpoints: {
      'service.health': { handle: createHealth() },
      'service.ready': { handle: createReady(unready) },
      'probe.get': {
        handle: createProbeGet({ state: readers, everyS: probeS, clock: core.clock }),
      },
      'error-rate.get': { handle: createErrorRateGet({ state: readers }) },
      'public-name.renew': { handle: createPublicNameRenew({ state: readers }) },
      'service.metrics': { handle: createMetrics({ token, print: metrics.print }) },
      ...operatorEndpoints(readers, region, { state: readers, meter, clock: core.clock }),
    },
    pages: {
      [METRICS_PAGE]: metrics.json,
      [COUNTS_PAGE]: (): CountsPage => ({ counts: counts.models() }),
    },
    account: { records: { public_name: recordsOf(readers, NAMES_OF) } },
    drained: () => keeper.flush(),
    close: () => keeper.stop(),
  }
}

type OperatorName = keyof (typeof OPERATOR)['operations']

/** The node as its operator sees it on the portal. */
function operatorEndpoints(
  state: State,
  region: string,
  facts: FactsDeps,
): Record<OperatorName, Endpoint> {
  const incidents = createIncidents(state, region)
  return {
    'operator-node.get': { handle: createOperatorNodeGet(facts) },
    'operator-books.get': { handle: createOperatorBooksGet(state) },
    'operator-log.get': { handle: createOperatorLogGet(facts) },
    'operator-account.list': { handle: createOperatorAccountList(state) },
    'operator-account.suspend': {
      parse: parseAccountSuspension,
      handle: createOperatorAccountSuspend(state),
    },
    'operator-account.resume': { handle: createOperatorAccountResume(state) },
    'operator-alarm.list': { handle: createOperatorAlarmList(state) },
    'operator-alarm.acknowledge': { handle: createOperatorAlarmAcknowledge(state) },
    'operator-incident.list': { handle: createOperatorIncidentList(state, incidents) },
    'operator-incident.open': {
      parse: parseIncidentOpening,
      handle: createOperatorIncidentOpen(state, incidents),
    },
    'operator-incident.update': {
      parse: parseIncidentTelling,
      handle: createOperatorIncidentUpdate(state, incidents),
    },
    'operator-incident.close': {
      parse: parseIncidentTelling,
      handle: createOperatorIncidentClose(state, incidents),
    },
  }
}
