// The table of tasks. graphile-worker keeps the jobs in a schema of its own (jobs-schema.ts).
import type { Schema } from '#state/schema.ts'

export const TASKS_SCHEMA: Schema = {
  area: 'tasks',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./jobs-schema.sql', import.meta.url)],
}
