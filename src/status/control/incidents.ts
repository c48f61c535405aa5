// The operator's operations on incidents, on the command line.
import type { INCIDENTS_CONTROL } from '#contract/control/incidents.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { Incidents } from '#status/incidents.ts'

export const incidentHandlers = (
  incidents: Incidents,
): ControlHandlers<typeof INCIDENTS_CONTROL> => ({
  'incident.open': (asked) => incidents.open(asked),
  'incident.update': (asked) => incidents.update(asked),
  'incident.close': (asked) => incidents.close(asked),
  'incident.list': () => incidents.list(),
})
