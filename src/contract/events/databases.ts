// The events of databases.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'

const database = {
  database_id: z.string().regex(/^db_/).meta({ example: 'db_sample' }),
  database_name: z.string(),
}

export const DATABASES_EVENTS = {
  'database.failed': eventOf('The server of a database does not start.', {
    ...database,
    reason: z.string(),
  }),
  'database.recovered': eventOf('The server of a database that did not start answers again.', {
    ...database,
  }),
} satisfies EventTable
