// The ledger's tables and functions.
import type { Schema } from '#state/schema.ts'

export const LEDGER_SCHEMA: Schema = {
  area: 'ledger',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    'sessions',
    'funds',
    'budgets',
    'reserves',
    'tick',
    'windows',
    'reconcile',
    'standing',
    'bundles',
  ].map((name) => new URL(`./${name}.sql`, import.meta.url)),
}
