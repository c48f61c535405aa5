// The events that src/webhooks emits: those of endpoints, and of receipts and objects, which it reads in batches.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'
import { OBJECT_CREATED } from '#contract/storage/object-created.ts'

const whole = z.string().regex(/^\d+$/)

export const WEBHOOKS_EVENTS = {
  'receipt.published': eventOf(
    'Receipts were signed, the oldest first: up to 100 in one event when there are many.',
    {
      receipts: z
        .array(
          z.strictObject({
            receipt_id: z
              .string()
              .regex(/^rcpt_/)
              .meta({ example: 'rcpt_sample' }),
            operation: z.string(),
            energy_nj: whole,
            charge_pusd: whole,
          }),
        )
        .min(1)
        .max(100),
    },
  ),
  [OBJECT_CREATED]: eventOf(
    'An object was written in a bucket whose notification rules ask for it.',
    {
      bucket: z.string(),
      key: z.string(),
      version_id: z.string(),
      size: z.int().min(0),
      etag: z.string(),
    },
  ),
  'webhook.disabled': eventOf(
    'An endpoint gets nothing any more: it answered 410, or failed for five days.',
    { webhook_id: z.string(), url: z.string(), reason: z.string() },
  ),
} satisfies EventTable
