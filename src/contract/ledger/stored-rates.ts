// The form of stored rates, apart from their type: a program that only bills by rates does not load zod.
import { z } from 'zod'

const natural = z.int().nonnegative()
const rate = z.object({ value: natural, deviation: natural }).readonly()

const operationRate = z
  .object({
    /** The rate of each request, whatever its size. */
    value: natural,
    deviation: natural,
    /** The rate of each millisecond of the requests' own CPU. */
    own: rate,
    /** Common errors of two estimates, of the unit of the one times the unit of the other. */
    covariances: z
      .object({
        requestOwn: z.int(),
        requestActive: z.int(),
        ownActive: z.int(),
        // Of the rate of the operation's units, which is a rate of its own; rates stored before have none.
        requestUnit: z.int().default(0),
        ownUnit: z.int().default(0),
        unitActive: z.int().default(0),
      })
      .readonly(),
  })
  .readonly()

const rates = z
  .object({
    /** Thousandths of each rate that are billed now. */
    levelMilli: natural,
    activeSecond: rate,
    operations: z.record(z.string(), operationRate).readonly(),
    /** A second of rest: never billed. */
    rest: rate,
    /** 100 ms of CPU of upkeep's connections: never billed; absent in rates that were stored before. */
    upkeep: rate.optional(),
  })
  .readonly()

export type StoredRates = z.infer<typeof rates>
export type OperationRate = z.infer<typeof operationRate>

/** Reads stored rates, without the totals of sessions; undefined when they are damaged. */
export const parseRates = (stored: unknown): StoredRates | undefined => rates.safeParse(stored).data
