// The tables of the toy.
import type { Schema } from '#state/schema.ts'

export const TOY_SCHEMA: Schema = {
  area: 'toy',
  tables: new URL('./schema/', import.meta.url),
  functions: [new URL('./count.sql', import.meta.url)],
}
