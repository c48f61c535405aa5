// The operator's operations of all areas, by name: one line an area. Programs that only call an operation take the
// types of this file, not its schemas.
import type { AnswerOf, ControlTable, LineOf, RequestOf } from './control-operation.ts'
import { ACCOUNTS_CONTROL } from './accounts/control.ts'
import { DATABASES_CONTROL } from './databases/control.ts'
import { INCIDENTS_CONTROL } from './status/control.ts'
import { INFERENCE_CONTROL } from './inference/control.ts'
import { NODE_CONTROL } from './node/control.ts'
import { PAYMENTS_CONTROL } from './payments/control.ts'
import { PORTAL_CONTROL } from './portal/control.ts'
import { RECEIPTS_CONTROL } from './receipts/control.ts'
import { STORAGE_CONTROL } from './storage/control.ts'

export const CONTROL = {
  ...NODE_CONTROL,
  ...ACCOUNTS_CONTROL,
  ...INFERENCE_CONTROL,
  ...RECEIPTS_CONTROL,
  ...STORAGE_CONTROL,
  ...DATABASES_CONTROL,
  ...PAYMENTS_CONTROL,
  ...INCIDENTS_CONTROL,
  ...PORTAL_CONTROL,
} satisfies ControlTable

export type ControlName = keyof typeof CONTROL
export type ControlRequest<Name extends ControlName> = RequestOf<(typeof CONTROL)[Name]>
export type ControlAnswer<Name extends ControlName> = AnswerOf<(typeof CONTROL)[Name]>
export type ControlLine<Name extends ControlName> = LineOf<(typeof CONTROL)[Name]>
