// The tables of the public log.
import type { Schema } from '#state/schema.ts'

export const RECEIPTS_SCHEMA: Schema = {
  area: 'receipts',
  tables: new URL('./schema/', import.meta.url),
  functions: [],
}
