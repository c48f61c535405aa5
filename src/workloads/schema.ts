// The tables of workloads.
import type { Schema } from '#state/schema.ts'

export const WORKLOADS_SCHEMA: Schema = {
  area: 'workloads',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    new URL('./volumes.sql', import.meta.url),
    new URL('./images.sql', import.meta.url),
    new URL('./workloads.sql', import.meta.url),
    new URL('./registries/passwords.sql', import.meta.url),
  ],
}
