// The tables of webhooks.
import type { Schema } from '#state/schema.ts'

export const WEBHOOKS_SCHEMA: Schema = {
  area: 'webhooks',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    new URL('./sql/masked-url.sql', import.meta.url),
    new URL('./sql/fan-out.sql', import.meta.url),
    new URL('./sql/announce.sql', import.meta.url),
    new URL('./sql/deliveries.sql', import.meta.url),
    new URL('./sql/leave.sql', import.meta.url),
  ],
}
