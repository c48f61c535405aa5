// POST /v1/operator/incidents
import type { IncidentOpening } from '#contract/operator/operator.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import type { Incidents } from '#status/incidents.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'
import { recordIncident } from '#status/operator/record-incident.ts'

export const createOperatorIncidentOpen = (
  state: Queryable,
  incidents: Incidents,
): Handler<IncidentOpening> =>
  operatorOnly(state, (call) =>
    incidents.open(call.body, recordIncident(call, 'operator-incident.open')),
  )
