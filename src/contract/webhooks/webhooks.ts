// Requests and replies of webhooks and of the list of events.
import { z } from 'zod'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { plainText } from '#contract/values/plain-text.ts'

/** Endpoints that an account has at most. */
export const WEBHOOKS_MAX = 20
export const WEBHOOK_URL_MAX = 2048
export const WEBHOOK_EVENTS_MAX = 100
const WEBHOOK_NAME_MAX = 200
/** Deliveries that one replay makes due at most. */
export const WEBHOOK_REPLAY_MAX = 10_000
/** Entries of a page of the log, and of a page of events. */

/** Every event type that an endpoint can ask for, or the new objects of one bucket. */
const wanted = z.string().min(1).max(200)
const events = z.array(wanted).min(1).max(WEBHOOK_EVENTS_MAX)

export const webhookRequest = ownObject({
  /** https; http only to this machine, where the service itself is only on this machine. */
  url: plainText(WEBHOOK_URL_MAX).min(1),
  /** Event types, or `bucket/<bucket>/object-created`. */
  events,
  description: plainText(WEBHOOK_NAME_MAX).default(''),
})
export type WebhookRequest = z.infer<typeof webhookRequest>

export const webhookChange = ownObject({
  url: webhookRequest.shape.url.optional(),
  events: events.optional(),
  description: plainText(WEBHOOK_NAME_MAX).optional(),
  /** True: nothing is sent, and deliveries wait. False: also resumes a disabled endpoint. */
  paused: z.boolean().optional(),
}).refine(
  (change) => Object.keys(change).length > 0,
  'must have url, events, description or paused',
)
export type WebhookChange = z.infer<typeof webhookChange>

export const webhookTest = ownObject({ event: wanted })
export type WebhookTest = z.infer<typeof webhookTest>

export const webhookReplay = ownObject({
  /** One event, by its id: also one that was delivered. */
  event_id: z.string().max(100).optional(),
  /** Selects events from `from` on, and before `to`. */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  /** Replays the events of a time, also those that were delivered. */
  delivered: z.boolean().default(false),
}).refine(
  ({ event_id: event, from, to }) =>
    (event === undefined) !== (from === undefined && to === undefined),
  'must have event_id, or from and to',
)
export type WebhookReplay = z.infer<typeof webhookReplay>

/** Each throws invalid_request. */
export const parseWebhookRequest = (json: unknown): WebhookRequest =>
  parseWith(webhookRequest, json)
export const parseWebhookChange = (json: unknown): WebhookChange => parseWith(webhookChange, json)
export const parseWebhookTest = (json: unknown): WebhookTest => parseWith(webhookTest, json)
export const parseWebhookReplay = (json: unknown): WebhookReplay => parseWith(webhookReplay, json)

const time = z.iso.datetime()
const count = z.int().min(0)

export const webhookReply = z.object({
  id: z.string(),
  object: z.literal('webhook'),
  /** Whole at the creation; afterwards the values of its query are ***. */
  url: z.string(),
  events: z.array(z.string()),
  description: z.string(),
  /** disabled: the service stopped sending by itself; `reason` has why. */
  status: z.enum(['active', 'paused', 'disabled']),
  reason: z.string().nullable(),
  /** Deliveries that wait, up to 10,000. */
  pending: count,
  /** Failed attempts since the last success. */
  failures: count,
  last_success_at: time.nullable(),
  last_failure_at: time.nullable(),
  last_error: z.string().nullable(),
  /** Until then the secret from before the rotation signs too. */
  previous_secret_until: time.nullable(),
  created_at: time,
})
export type WebhookReply = z.infer<typeof webhookReply>

/** With the secret, which no later answer has. */
export const webhookWithSecret = webhookReply.extend({ secret: z.string().regex(/^whsec_/) })
export type WebhookWithSecret = z.infer<typeof webhookWithSecret>

export const webhookDeleted = z.object({
  object: z.literal('webhook'),
  id: z.string(),
  deleted: z.literal(true),
})

export const webhookList = listPageOf(webhookReply)

export const webhookDelivery = z.object({
  id: z.string(),
  object: z.literal('webhook.delivery'),
  webhook: z.string(),
  event: z.string(),
  event_id: z.string(),
  /** True of a synthetic event. */
  test: z.boolean(),
  /** dead: the last attempt failed; a replay tries again. */
  status: z.enum(['pending', 'delivered', 'dead']),
  attempts: count,
  /** Null also of a pending one whose endpoint is paused or disabled: it waits for the resume. */
  next_attempt_at: time.nullable(),
  /** The time of the last attempt. */
  attempted_at: time.nullable(),
  http_status: z.int().nullable(),
  error: z.string().nullable(),
  duration_ms: count.nullable(),
  /** The first KiB of the answer. */
  answer: z.string().nullable(),
  /** Failed attempts, the oldest first. */
  failed: z.array(z.object({ at: time, http_status: z.int().nullable(), error: z.string() })),
  created_at: time,
})
export type WebhookDelivery = z.infer<typeof webhookDelivery>

export const webhookDeliveryList = listPageOf(webhookDelivery)
export const webhookReplayed = z.object({
  object: z.literal('webhook.replay'),
  /** Deliveries that are due now. */
  deliveries: count,
  /** True where there are more than one replay takes: the next one begins at `next_from`. */
  has_more: z.boolean(),
  next_from: time.nullable(),
})

export const webhookLogQuery = z.object({
  webhook: z.string().optional(),
  since: time.optional(),
  status: z.enum(['pending', 'delivered', 'dead']).optional(),
  ...pageQuery,
})

export const eventListQuery = z.object({
  /** The sequence of the last event that is known; 0 for all. */
  after: count.optional(),
  /** The oldest first, by default, or the newest. */
  order: z.enum(['oldest', 'newest']).optional(),
  ...pageQuery,
})

/** An event as receivers get it. */
export const eventBody = z.object({
  event: z.string(),
  event_id: z.string().regex(/^evt_/),
  occurred_at: time,
  data: z.looseObject({ account_id: z.string(), sequence: count }),
})
export type EventBody = z.infer<typeof eventBody>
export const eventList = listPageOf(eventBody)
