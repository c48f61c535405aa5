// Intervals in which a resource was awake, with their causes.
import { z } from 'zod'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'

/** A connection of a client, a backup, or a change that was asked for. */
export const WAKE_CAUSES = ['connection', 'backup', 'change'] as const
export type WakeCause = (typeof WAKE_CAUSES)[number]

/**
 * In this order: no use for a while; suspended by its account; the end of its energy budget; the end of the balance.
 * Further: a change that needs the resource stopped; a failed start; the stop of the node.
 */
export const SLEEP_CAUSES = [
  'idle',
  'suspended',
  'budget',
  'balance',
  'change',
  'failed',
  'stop',
] as const
export type SleepCause = (typeof SLEEP_CAUSES)[number]

const time = z.iso.datetime()

export const interval = z.object({
  from: time,
  /** Null while it is awake. */
  to: time.nullable(),
  woken_by: z.enum(WAKE_CAUSES),
  /** The role whose connection woke it. */
  role: z.string().nullable(),
  /** Null while it is awake. */
  slept_by: z.enum(SLEEP_CAUSES).nullable(),
})
export type AwakeInterval = z.infer<typeof interval>

/** Asks for the intervals that overlap the range, by default the last day. */
export const intervalsQuery = z.object({
  from: time.optional(),
  to: time.optional(),
  ...pageQuery,
})

/** The newest first. */
export const intervalList = listPageOf(interval)
