// The tables and functions of deployments.
import type { Schema } from '#state/schema.ts'

export const DEPLOYMENTS_SCHEMA: Schema = {
  area: 'deployments',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./deployments.sql', import.meta.url)],
}
