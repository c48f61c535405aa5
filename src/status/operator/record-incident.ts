// The entry of the audit log for a change of an incident, in the transaction of the change.
import type { IncidentOpening, IncidentTelling } from '#contract/operator/operator.ts'
import type { OperationCall } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import type { RecordChange } from '#status/incidents.ts'

/** The texts are public, so the audit log may have them. */
export const recordIncident =
  (call: OperationCall<IncidentOpening | IncidentTelling>, action: string): RecordChange =>
  async (transaction, target) => {
    const { preview: _, ...details } = call.body
    await recordAct(transaction, call, { action, target, details })
  }
