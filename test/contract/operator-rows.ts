// Calls of the operator's view, for the matrix: all are refused at the API. Honest calls: test/operator/portal.test.ts.
import type { Row } from './matrix-row.ts'

const at = (path: string): Row => ({ path: () => path })

export const OPERATOR_ROWS: Readonly<Record<string, Row>> = {
  'operator-node.get': at('/v1/operator/node'),
  'operator-books.get': at('/v1/operator/books'),
  'operator-log.get': at('/v1/operator/log'),
  'operator-account.list': at('/v1/operator/accounts'),
  'operator-account.suspend': at('/v1/operator/accounts/none/suspend'),
  'operator-account.resume': at('/v1/operator/accounts/none/resume'),
  'operator-alarm.list': at('/v1/operator/alarms'),
  'operator-alarm.acknowledge': at('/v1/operator/alarms/1/acknowledge'),
  'operator-incident.list': at('/v1/operator/incidents'),
  'operator-incident.open': at('/v1/operator/incidents'),
  'operator-incident.update': at('/v1/operator/incidents/none/updates'),
  'operator-incident.close': at('/v1/operator/incidents/none/close'),
}
