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
  'database.log_lost': eventOf(
    'The last part of the log of a database was lost, at its deletion or with its files: rows may be missing since then.',
    {
      ...database,
      since: z.iso.datetime().meta({ example: '2026-01-01T00:00:00.000Z' }),
      reason: z.string(),
    },
  ),
} satisfies EventTable
