// The events of the status of regions.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'

export const STATUS_EVENTS = {
  'fleet.region_outage': eventOf(
    'A region that has resources or buckets of the account is degraded: once for each incident.',
    {
      incident_id: z.string(),
      region: z.string(),
      /** The operator's words. */
      summary: z.string(),
      started_at: z.iso.datetime().meta({ example: '2026-01-01T00:00:00.000Z' }),
    },
  ),
} satisfies EventTable
