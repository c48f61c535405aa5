// The table of routes, which products write and the ingress follows.
import type { Schema } from '#state/schema.ts'

export const INGRESS_SCHEMA: Schema = {
  area: 'ingress',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./routes.sql', import.meta.url)],
}
