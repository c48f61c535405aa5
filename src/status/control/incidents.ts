// The operator's operations on incidents, on the command line.
import type { INCIDENTS_CONTROL } from '#contract/status/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import { recordNodeAct } from '#identity/operator-account.ts'
import type { Incidents, RecordChange } from '#status/incidents.ts'

export const incidentHandlers = (
  incidents: Incidents,
): ControlHandlers<typeof INCIDENTS_CONTROL> => ({
  'incident.open': (asked) => incidents.open(asked, recordOf('incident.open', asked)),
  'incident.update': (asked) => incidents.update(asked, recordOf('incident.update', asked)),
  'incident.close': (asked) => incidents.close(asked, recordOf('incident.close', asked)),
  'incident.list': () => incidents.list(),
})

/** The texts are public, so the audit log may have them. */
function recordOf(
  action: keyof typeof INCIDENTS_CONTROL,
  asked: { readonly incident?: string; readonly preview: boolean },
): RecordChange {
  const { incident: _, preview: __, ...details } = asked
  return (transaction, target) => recordNodeAct(transaction, { action, target, details })
}
