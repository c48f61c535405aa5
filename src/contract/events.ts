// The events of all areas, by type: one line an area, which is the folder of the SQL that emits them.
// docs/reference/events.md is printed from this table; a rule holds the types to the source, and tests of a running
// product hold each row to its schema.
import { WEBHOOKS_EVENTS } from './webhooks/events.ts'
import { COMPLIANCE_EVENTS } from './compliance/events.ts'
import type { EventTable } from './event.ts'
import { DATABASES_EVENTS } from './databases/events.ts'
import { IDENTITY_EVENTS } from './identity/events.ts'
import { LEDGER_EVENTS } from './ledger/events.ts'
import { STATUS_EVENTS } from './status/events.ts'
import { WORKLOADS_EVENTS } from './workloads/events.ts'

export const EVENTS: EventTable = {
  ...IDENTITY_EVENTS,
  ...LEDGER_EVENTS,
  ...WEBHOOKS_EVENTS,
  ...STATUS_EVENTS,
  ...COMPLIANCE_EVENTS,
  ...DATABASES_EVENTS,
  ...WORKLOADS_EVENTS,
}
