// POST /v1/operator/incidents/{id}/close
import { present } from '#base/errors.ts'
import type { IncidentTelling } from '#contract/operator/operator.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import type { Incidents } from '#status/incidents.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'
import { recordIncident } from '#status/operator/record-incident.ts'

export const createOperatorIncidentClose = (
  state: Queryable,
  incidents: Incidents,
): Handler<IncidentTelling> =>
  operatorOnly(state, (call) => {
    const incident = present(call.parameters['incident'], 'the path has the incident')
    const record = recordIncident(call, 'operator-incident.close')
    return incidents.close({ ...call.body, incident }, record)
  })
