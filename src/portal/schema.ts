// The tables of the portal.
import type { Schema } from '#state/schema.ts'

export const PORTAL_SCHEMA: Schema = {
  area: 'portal',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./upkeep.sql', import.meta.url)],
}
