// The operator's operations on incidents of regions.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/own-object.ts'
import { plainText } from '#contract/plain-text.ts'

const incident = z.strictObject({
  id: z.string(),
  region: z.string(),
  summary: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  /** Accounts with an event of it. */
  accounts: z.int(),
})

export const INCIDENTS_CONTROL = {
  /** Tells each account that has a resource or a bucket in the region, once. */
  'incident.open': {
    request: ownObject({
      region: z.string().min(1).max(100),
      summary: plainText(500).min(1),
      /** Default: now. */
      started_at: z.iso.datetime().optional(),
    }),
    answer: incident,
  },
  'incident.close': { request: ownObject({ incident: z.string() }), answer: incident },
  /** The newest first, at most a thousand. */
  'incident.list': { request: ownObject({}), answer: z.array(incident) },
} satisfies ControlTable
