// The installation's own probe: requests that it sends to itself, as a user would, and their results.
import { z } from 'zod'
import { ENERGY_METHODS } from '#contract/ledger/charge.ts'
import { PROBE_DAYS_MAX } from './probe-components.ts'

/**
 * failed: the service did not answer as it must; not_probed: no request was sent, or it was refused for a reason of
 * the probe's account.
 */
export const PROBE_STATES = ['ok', 'failed', 'not_probed'] as const
export type ProbeState = (typeof PROBE_STATES)[number]

const whole = z.string().regex(/^(0|[1-9]\d*)$/)
const count = z.int().min(0)

/** All requests of a probe together. */
const probeFigures = z.object({
  at: z.iso.datetime(),
  duration_ms: count,
  energy_nj: whole,
  carbon_pg: whole,
  method: z.enum(ENERGY_METHODS),
  band_pct: whole,
  /** As `X-Routed-To`: operator/region/silicon. */
  routed_to: z.string(),
  /** The receipt of its first request. */
  receipt_id: z.string(),
  /**
   * The receipts of all requests of the probe, in their order: the figures are their sum. Probes by earlier versions
   * have none.
   */
  receipts: z.array(z.object({ id: z.string(), energy_nj: whole })),
})
export type ProbeFigures = z.infer<typeof probeFigures>

export const probeReply = z.object({
  object: z.literal('probe'),
  /** Seconds from one probe of a component to the next; 0: the operator has set it off. */
  every_seconds: count,
  components: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      /** In words; null where nothing is asked. */
      request: z.string().nullable(),
      state: z.enum(PROBE_STATES),
      /** Why it failed, or was not asked; null where it works. */
      reason: z.string().nullable(),
      /** When it was last looked at; null before. */
      at: z.iso.datetime().nullable(),
      /** The newest probe that worked; null before the first. */
      last: probeFigures.nullable(),
      /** UTC days with probes, the newest first, with medians of those that worked. */
      days: z.array(
        z.object({
          day: z.iso.date(),
          probes: count,
          failures: count,
          duration_ms: count.nullable(),
          energy_nj: whole.nullable(),
        }),
      ),
    }),
  ),
})
export type ProbeReply = z.infer<typeof probeReply>

export const probeQuery = z.object({
  /** Days in `days`: 1 by default. */
  days: z.coerce.number().int().min(1).max(PROBE_DAYS_MAX).optional(),
})
