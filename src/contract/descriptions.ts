// The descriptions of all routed operations: one line a product. Only the printer and the tests of the interface
// import this file, because it loads every schema.
import { WEBHOOKS_DESCRIPTIONS } from './descriptions/webhooks.ts'
import { COMPLIANCE_DESCRIPTIONS } from './descriptions/compliance.ts'
import { DEPLOYMENTS_DESCRIPTIONS } from './descriptions/deployments.ts'
import { DATABASES_DESCRIPTIONS } from './descriptions/databases.ts'
import type { Description } from './description.ts'
import { ACCOUNTS_DESCRIPTIONS } from './descriptions/accounts.ts'
import { FUNCTIONS_DESCRIPTIONS } from './descriptions/functions.ts'
import { INFERENCE_DESCRIPTIONS } from './descriptions/inference.ts'
import { LIVE_DESCRIPTIONS } from './descriptions/live.ts'
import { OPERATOR_DESCRIPTIONS } from './descriptions/operator.ts'
import { PAYMENTS_DESCRIPTIONS } from './descriptions/payments.ts'
import { PORTAL_DESCRIPTIONS } from './descriptions/portal.ts'
import { STATUS_DESCRIPTIONS } from './descriptions/status.ts'
import { STORAGE_DESCRIPTIONS } from './descriptions/storage.ts'
import { WORKLOADS_DESCRIPTIONS } from './descriptions/workloads.ts'
import type { RoutedName } from './operations.ts'

export const DESCRIPTIONS: Readonly<Record<RoutedName, Description>> = {
  ...INFERENCE_DESCRIPTIONS,
  ...STORAGE_DESCRIPTIONS,
  ...ACCOUNTS_DESCRIPTIONS,
  ...STATUS_DESCRIPTIONS,
  ...DATABASES_DESCRIPTIONS,
  ...FUNCTIONS_DESCRIPTIONS,
  ...DEPLOYMENTS_DESCRIPTIONS,
  ...WORKLOADS_DESCRIPTIONS,
  ...PAYMENTS_DESCRIPTIONS,
  ...WEBHOOKS_DESCRIPTIONS,
  ...COMPLIANCE_DESCRIPTIONS,
  ...LIVE_DESCRIPTIONS,
  ...PORTAL_DESCRIPTIONS,
  ...OPERATOR_DESCRIPTIONS,
}
