// The background halves of all areas. A product adds one line.
import { ACCOUNTS_TASKS } from '#accounts/tasks.ts'
import { WEBHOOKS_TASKS } from '#webhooks/tasks.ts'
import { WORKLOADS_TASKS } from '#workloads/tasks.ts'
import { COMPLIANCE_TASKS } from '#compliance/tasks.ts'
import { DEPLOYMENTS_TASKS } from '#deployments/tasks.ts'
import { DATABASES_TASKS } from '#databases/tasks.ts'
import { FUNCTIONS_TASKS } from '#functions/tasks.ts'
import { LEDGER_TASKS } from '#ledger/tasks.ts'
import type { TasksProduct } from '#node/tasks-part.ts'
import { PAYMENTS_TASKS } from '#payments/tasks.ts'
import { PORTAL_TASKS } from '#portal/tasks.ts'
import { STORAGE_TASKS } from '#objects/tasks.ts'
import { STATUS_TASKS } from '#status/tasks.ts'
import { receiptsTasks } from '#receipts/tasks.ts'
import { RECEIPTS_TO_ANNOUNCE } from '#webhooks/receipts-to-announce.ts'

export const TASKS_PRODUCTS: readonly TasksProduct[] = [
  LEDGER_TASKS,
  receiptsTasks([RECEIPTS_TO_ANNOUNCE]),
  STORAGE_TASKS,
  DATABASES_TASKS,
  DEPLOYMENTS_TASKS,
  FUNCTIONS_TASKS,
  WORKLOADS_TASKS,
  WEBHOOKS_TASKS,
  COMPLIANCE_TASKS,
  STATUS_TASKS,
  PAYMENTS_TASKS,
  PORTAL_TASKS,
  ACCOUNTS_TASKS,
]
