// The table of resources and its state machine.
import type { Schema } from '#state/schema.ts'

export const RESOURCES_SCHEMA: Schema = {
  area: 'resources',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    new URL('./resources.sql', import.meta.url),
    new URL('./versions.sql', import.meta.url),
  ],
}
