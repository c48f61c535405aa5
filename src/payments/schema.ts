// The tables and functions of payments.
import type { Schema } from '#state/schema.ts'

export const PAYMENTS_SCHEMA: Schema = {
  area: 'payments',
  tables: new URL('./schema/', import.meta.url),
  functions: ['vouchers', 'payments', 'leave'].map(
    (name) => new URL(`./${name}.sql`, import.meta.url),
  ),
}
