// The events of all areas, by type: one line an area, which is the folder of the SQL that emits them. docs/reference/events.md is printed from this table; a rule holds
// the types to the source, and tests of a running product hold each row to its schema.
import { WEBHOOKS_EVENTS } from './events/webhooks.ts'
import { COMPLIANCE_EVENTS } from './events/compliance.ts'
import type { EventTable } from './event.ts'
import { DATABASES_EVENTS } from './events/databases.ts'
import { IDENTITY_EVENTS } from './events/identity.ts'
import { LEDGER_EVENTS } from './events/ledger.ts'
import { STATUS_EVENTS } from './events/status.ts'
import { WORKLOADS_EVENTS } from './events/workloads.ts'

export const EVENTS: EventTable = {
  ...IDENTITY_EVENTS,
  ...LEDGER_EVENTS,
  ...WEBHOOKS_EVENTS,
  ...STATUS_EVENTS,
  ...COMPLIANCE_EVENTS,
  ...DATABASES_EVENTS,
  ...WORKLOADS_EVENTS,
}
