// The tables of functions.
import type { Schema } from '#state/schema.ts'

export const FUNCTIONS_SCHEMA: Schema = {
  area: 'functions',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./functions.sql', import.meta.url), new URL('./runs.sql', import.meta.url)],
}
