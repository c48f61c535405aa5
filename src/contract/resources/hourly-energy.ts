// The energy of a resource by the hour, over a time up to now.
import { z } from 'zod'
import { msOfDuration } from '#contract/values/durations.ts'
import { parseWith } from '#contract/values/parse.ts'

/** The time before now over which the energy is summed. */
export const ENERGY_SINCE = { least: '1s', most: '744h', byDefault: '24h' } as const

const time = z.iso.datetime()
const wholeText = z.string().regex(/^\d+$/)

export const hourlyEnergyQuery = z.object({
  /** The length of the range up to now: 24h by default, at most 31 days. */
  since: z
    .string()
    .refine(
      (text) => msOfDuration(text, ENERGY_SINCE) !== undefined,
      `must be from ${ENERGY_SINCE.least} to ${ENERGY_SINCE.most}, such as 1h`,
    )
    .optional(),
})

/** Throws invalid_request. */
export const parseHourlyEnergyQuery = (query: URLSearchParams) =>
  parseWith(hourlyEnergyQuery, Object.fromEntries(query))

const energyFigures = {
  energy_j: z.number().min(0),
  carbon_mg: z.number().min(0),
  energy_nj: wholeText,
  charge_pusd: wholeText,
}

/** The charges of one resource: those of the last minute may be missing. */
export const hourlyEnergyOf = <Kind extends string>(object: Kind) =>
  z.object({
    object: z.literal(object),
    from: time,
    to: time,
    /** Sums of the whole time. */
    ...energyFigures,
    /** The hours in which anything was charged, the oldest first. */
    data: z.array(z.object({ at: time, ...energyFigures })),
  })
export type HourlyEnergy = z.infer<ReturnType<typeof hourlyEnergyOf>>
