// The operator's operations on incidents of regions. All but the end's event is public: the status page shows the texts.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { plainText } from '#contract/values/plain-text.ts'

const words = plainText(2000).min(1)
/** Published beside the summary; each takes the place of the one before. */
const outcome = {
  /** The losses. */
  lost: words.optional(),
  /** Use that was not billed. */
  unbilled: words.optional(),
}
/** Answers as if, and changes nothing. */
const preview = z.boolean().default(false)

export const incident = z.strictObject({
  id: z.string(),
  region: z.string(),
  summary: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  lost: z.string().nullable(),
  unbilled: z.string().nullable(),
  /** The newest first. */
  updates: z.array(z.strictObject({ at: z.string(), words: z.string() })),
  /** Accounts with an event of it. */
  accounts: z.int(),
})

export const incidentOpening = ownObject({
  region: z.string().min(1).max(100),
  summary: plainText(500).min(1),
  /** Default: now. */
  started_at: z.iso.datetime().optional(),
  preview,
})
const updateFields = { words: words.optional(), ...outcome, preview }
export const incidentTelling = ownObject(updateFields)

export const INCIDENTS_CONTROL = {
  /** Tells each account that has a resource or a bucket in the region, once. */
  'incident.open': { request: incidentOpening, answer: incident },
  /** Adds words to an incident, open or closed. */
  'incident.update': {
    request: ownObject({ incident: z.string(), ...updateFields }),
    answer: incident,
  },
  'incident.close': {
    request: ownObject({ incident: z.string(), ...updateFields }),
    answer: incident,
  },
  /** The newest first, at most a thousand. */
  'incident.list': { request: ownObject({}), answer: z.array(incident) },
} satisfies ControlTable
