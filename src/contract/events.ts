// The events of all areas, by type: one line an area. docs/reference/events.md is printed from this table; a rule holds
// the types to the source, and tests of a running product hold each row to its schema.
import { WEBHOOKS_EVENTS } from './events/webhooks.ts'
import { COMPLIANCE_EVENTS } from './events/compliance.ts'
import type { EventTable } from './event.ts'
import { ACCOUNTS_EVENTS } from './events/accounts.ts'
import { DATABASES_EVENTS } from './events/databases.ts'
import { STATUS_EVENTS } from './events/status.ts'
import { WORKLOADS_EVENTS } from './events/workloads.ts'

export const EVENTS: EventTable = {
  ...ACCOUNTS_EVENTS,
  ...WEBHOOKS_EVENTS,
  ...STATUS_EVENTS,
  ...COMPLIANCE_EVENTS,
  ...DATABASES_EVENTS,
  ...WORKLOADS_EVENTS,
}
