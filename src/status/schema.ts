// The tables and functions of the status of regions.
import type { Schema } from '#state/schema.ts'

export const STATUS_SCHEMA: Schema = {
  area: 'status',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    new URL('./incidents.sql', import.meta.url),
    new URL('./error-rates.sql', import.meta.url),
    new URL('./probes.sql', import.meta.url),
  ],
}
