// The tables and functions of evidence packs.
import type { Schema } from '#state/schema.ts'

export const COMPLIANCE_SCHEMA: Schema = {
  area: 'compliance',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./packs.sql', import.meta.url)],
}
