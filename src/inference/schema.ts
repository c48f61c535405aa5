// The tables of the catalogue of models.
import type { Schema } from '#state/schema.ts'

export const MODELS_SCHEMA: Schema = {
  area: 'inference',
  tables: new URL('./schema/', import.meta.url),
  functions: [],
}
