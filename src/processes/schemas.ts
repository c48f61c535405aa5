// The areas of the state, in the order of their foreign keys. A product adds one line.
import { WEBHOOKS_SCHEMA } from '#webhooks/schema.ts'
import { COMPLIANCE_SCHEMA } from '#compliance/schema.ts'
import { DATABASES_SCHEMA } from '#databases/schema.ts'
import { DEPLOYMENTS_SCHEMA } from '#deployments/schema.ts'
import { RESOURCES_SCHEMA } from '#resources/schema.ts'
import { FUNCTIONS_SCHEMA } from '#functions/schema.ts'
import { INGRESS_SCHEMA } from '#ingress/schema.ts'
import { IDEMPOTENCY_SCHEMA } from '#http/schema.ts'
import { IDENTITY_SCHEMA } from '#identity/schema.ts'
import { MODELS_SCHEMA } from '#inference/schema.ts'
import { LEDGER_SCHEMA } from '#ledger/schema.ts'
import { OBJECTS_SCHEMA } from '#objects/schema.ts'
import { PAYMENTS_SCHEMA } from '#payments/schema.ts'
import { PORTAL_SCHEMA } from '#portal/schema.ts'
import { RECEIPTS_SCHEMA } from '#receipts/schema.ts'
import { STATUS_SCHEMA } from '#status/schema.ts'
import { STATE_SCHEMA, type Schema } from '#state/schema.ts'
import { TASKS_SCHEMA } from '#tasks/schema.ts'
import { WORKLOADS_SCHEMA } from '#workloads/schema.ts'

export const SCHEMAS: readonly Schema[] = [
  STATE_SCHEMA,
  TASKS_SCHEMA,
  LEDGER_SCHEMA,
  IDENTITY_SCHEMA,
  IDEMPOTENCY_SCHEMA,
  RECEIPTS_SCHEMA,
  MODELS_SCHEMA,
  OBJECTS_SCHEMA,
  RESOURCES_SCHEMA,
  INGRESS_SCHEMA,
  DATABASES_SCHEMA,
  FUNCTIONS_SCHEMA,
  WORKLOADS_SCHEMA,
  PAYMENTS_SCHEMA,
  WEBHOOKS_SCHEMA,
  STATUS_SCHEMA,
  COMPLIANCE_SCHEMA,
  PORTAL_SCHEMA,
  DEPLOYMENTS_SCHEMA,
]
