// The table of answers by Idempotency-Key.
import type { Schema } from '#state/schema.ts'

export const IDEMPOTENCY_SCHEMA: Schema = {
  area: 'http',
  tables: new URL('./schema/', import.meta.url),
  functions: [],
}
