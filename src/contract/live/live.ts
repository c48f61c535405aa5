// The stream of an account's present use: one message a second, or one in six seconds while nothing changes.
import { z } from 'zod'
import { ENERGY_METHODS } from '#contract/ledger/charge.ts'

/** Longest time of one stream, in seconds. A client asks again with the last id. */
export const LIVE_SECONDS_MAX = 300
/** Streams that one account may have at a gateway. */
export const LIVE_STREAMS_MAX = 8
/** Streams of all accounts at a gateway: each costs a message a second. */
export const LIVE_STREAMS_OF_ALL_MAX = 1000
/** Newest charges in one message. */
export const LIVE_CHARGES_MAX = 3
/** Resources whose power a message has. */
export const LIVE_RUNNING_MAX = 10

const wholeText = z.string().regex(/^(0|[1-9]\d*)$/)
const amount = z.string().regex(/^-?\d+$/)
const time = z.iso.datetime()

/** Parameters of GET /v1/live; the operation checks the values. */
export const liveQuery = z.object({
  /** The length of the stream: 300 by default. */
  seconds: z.coerce.number().int().min(1).max(LIVE_SECONDS_MAX).optional(),
  /** The id of the last message that was read. The header Last-Event-ID says the same. */
  after: wholeText.optional(),
})

/** The method of a charge is that of bandOfParts(); the method of the power is that of the node's meter. */
const method = z.enum(ENERGY_METHODS)
const bandPct = z.int().min(0)

const liveCharge = z.object({
  id: z.string(),
  at: time,
  service: z.string(),
  operation: z.string(),
  model: z.string().optional(),
  /** Of the answer, where the request was refused or failed. */
  status: z.int().min(400).max(599).optional(),
  energy_nj: wholeText,
  charge_pusd: wholeText,
  method,
  band_pct: bandPct,
})

/** The state of something, or that the account does not have it any more. */
const stated = <const Fields extends z.ZodRawShape>(fields: Fields) =>
  z.union([
    z.object({ id: z.string(), ...fields }),
    z.object({ id: z.string(), gone: z.literal(true) }),
  ])

/**
 * A message. Its id is the number of the account's newest charge that `today` counts. Lists and `balance` are whole in
 * the first message; later messages have the changes since the message before.
 */
export const liveMessage = z.object({
  at: time,
  /** True in the first message of a stream alone: its lists replace all earlier ones. */
  whole: z.literal(true).optional(),
  /** Mean power since the message before, by service, in watts. */
  watts: z.record(z.string(), z.number().min(0)),
  /** The part of `watts` that each database, function and workload had in the last second, the largest first. */
  running: z.array(z.object({ id: z.string(), watts: z.number().min(0) })).optional(),
  /** The method and the band of the node's meter: those of `watts`. */
  method,
  band_pct: bandPct,
  /** The day of UTC, as GET /v1/usage sums it. */
  today: z.object({
    day: z.iso.date(),
    requests: z.int().min(0),
    energy_nj: wholeText,
    carbon_pg: wholeText,
    charge_pusd: wholeText,
    /** The part of the energy that a sensor read. */
    measured_nj: wholeText,
    /** Null where charges from before bands were kept are in the sums. */
    band_pct: bandPct.nullable(),
  }),
  /** The cost of this stream so far. Its charge is made at its end. */
  looking_nj: wholeText,
  /** The newest charges since the message before, the newest first. */
  charges: z.array(liveCharge).optional(),
  /** Further charges since the message before, which GET /v1/receipts has. */
  charges_more: z.int().min(1).optional(),
  balance: z
    .object({
      unit: z.enum(['USD', 'tUSD']),
      balance_pusd: amount,
      depleted_since: z.string().nullable(),
    })
    .optional(),
  budgets: z.array(stated({ budget_nj: wholeText, used_nj: wholeText })).optional(),
  resources: z
    .array(
      stated({
        kind: z.string(),
        name: z.string(),
        status: z.string(),
        wanted: z.string(),
        reason: z.string().nullable(),
        /** Its server or program runs. */
        awake: z.boolean(),
      }),
    )
    .optional(),
  webhooks: z
    .array(
      stated({
        status: z.string(),
        failures: z.int().min(0),
        last_success_at: z.string().nullable(),
        last_failure_at: z.string().nullable(),
        last_error: z.string().nullable(),
      }),
    )
    .optional(),
})
export type LiveMessage = z.infer<typeof liveMessage>
