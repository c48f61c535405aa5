// The events of evidence packs.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'

export const COMPLIANCE_EVENTS = {
  'compliance.evidence_ready': eventOf('An evidence pack can be downloaded.', {
    pack_id: z.string(),
    from: z.iso.datetime().meta({ example: '2026-01-01T00:00:00.000Z' }),
    to: z.iso.datetime().meta({ example: '2026-02-01T00:00:00.000Z' }),
  }),
} satisfies EventTable
