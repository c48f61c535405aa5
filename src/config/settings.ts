// All settings: a line for each area that has some.
import { ACCOUNTS_SETTINGS } from './settings/accounts.ts'
import { WEBHOOKS_SETTINGS } from './settings/webhooks.ts'
import { COMPLIANCE_SETTINGS } from './settings/compliance.ts'
import { DATABASES_SETTINGS } from './settings/databases.ts'
import { EGRESS_SETTINGS } from './settings/egress.ts'
import { FUNCTIONS_SETTINGS } from './settings/functions.ts'
import { INGRESS_SETTINGS } from './settings/ingress.ts'
import { CORE_SETTINGS } from './settings/core.ts'
import { INFERENCE_SETTINGS } from './settings/inference.ts'
import { METER_SETTINGS } from './settings/meter.ts'
import { PAYMENTS_SETTINGS } from './settings/payments.ts'
import { STATUS_SETTINGS } from './settings/status.ts'
import { PORTAL_SETTINGS } from './settings/portal.ts'
import { STORAGE_SETTINGS } from './settings/storage.ts'
import { WORKLOADS_SETTINGS } from './settings/workloads.ts'

export const SETTINGS = {
  ...CORE_SETTINGS,
  ...METER_SETTINGS,
  ...INFERENCE_SETTINGS,
  ...STORAGE_SETTINGS,
  ...DATABASES_SETTINGS,
  ...FUNCTIONS_SETTINGS,
  ...INGRESS_SETTINGS,
  ...EGRESS_SETTINGS,
  ...WORKLOADS_SETTINGS,
  ...WEBHOOKS_SETTINGS,
  ...PAYMENTS_SETTINGS,
  ...COMPLIANCE_SETTINGS,
  ...ACCOUNTS_SETTINGS,
  ...STATUS_SETTINGS,
  ...PORTAL_SETTINGS,
}

export type SettingKey = keyof typeof SETTINGS
