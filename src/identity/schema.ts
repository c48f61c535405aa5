// The tables and functions of tokens.
import type { Schema } from '#state/schema.ts'

export const IDENTITY_SCHEMA: Schema = {
  area: 'identity',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    new URL('./account-lock.sql', import.meta.url),
    new URL('./exposures.sql', import.meta.url),
    new URL('./deletions.sql', import.meta.url),
    new URL('./suspensions.sql', import.meta.url),
  ],
}
