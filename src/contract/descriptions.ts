// The descriptions of all routed operations: one line a product. Only the printer and the tests of the interface
// import this file, because it loads every schema.
import { WEBHOOKS_DESCRIPTIONS } from './webhooks/descriptions.ts'
import { COMPLIANCE_DESCRIPTIONS } from './compliance/descriptions.ts'
import { DEPLOYMENTS_DESCRIPTIONS } from './deployments/descriptions.ts'
import { DATABASES_DESCRIPTIONS } from './databases/descriptions.ts'
import type { Description } from './description.ts'
import { ACCOUNTS_DESCRIPTIONS } from './accounts/descriptions.ts'
import { FUNCTIONS_DESCRIPTIONS } from './functions/descriptions.ts'
import { INFERENCE_DESCRIPTIONS } from './inference/descriptions.ts'
import { LIVE_DESCRIPTIONS } from './live/descriptions.ts'
import { OPERATOR_DESCRIPTIONS } from './operator/descriptions.ts'
import { PAYMENTS_DESCRIPTIONS } from './payments/descriptions.ts'
import { PORTAL_DESCRIPTIONS } from './portal/descriptions.ts'
import { STATUS_DESCRIPTIONS } from './status/descriptions.ts'
import { STORAGE_DESCRIPTIONS } from './storage/descriptions.ts'
import { WORKLOADS_DESCRIPTIONS } from './workloads/descriptions.ts'
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
