// GET /v1/operator/incidents
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import type { Incidents } from '#status/incidents.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'

export const createOperatorIncidentList = (state: Queryable, incidents: Incidents): Handler =>
  operatorOnly(state, async () => ({ object: 'list', data: await incidents.list() }))
