// POST /v1/operator/incidents/{id}/updates
import { present } from '#base/errors.ts'
import type { IncidentTelling } from '#contract/operator/operator.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import type { Incidents } from '#status/incidents.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'
import { recordIncident } from '#status/operator/record-incident.ts'

export const createOperatorIncidentUpdate = (
  state: Queryable,
  incidents: Incidents,
): Handler<IncidentTelling> =>
  operatorOnly(state, (call) => {
    const incident = present(call.parameters['incident'], 'the path has the incident')
    const record = recordIncident(call, 'operator-incident.update')
    return incidents.update({ ...call.body, incident }, record)
  })
