// The tables of databases.
import type { Schema } from '#state/schema.ts'

export const DATABASES_SCHEMA: Schema = {
  area: 'databases',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    new URL('./databases.sql', import.meta.url),
    new URL('./backups.sql', import.meta.url),
  ],
}
