// Learned rates of the CPU that requests cause in cells that serve all of them, as the agent stores them with the tariff
// and gateways bill by them: in nanoseconds of CPU, deviations are standard deviations.
import { z } from 'zod'

const natural = z.int().nonnegative()
const rate = z.object({ value: natural, deviation: natural }).readonly()

const operationRate = z
  .object({
    /** Of each request, whatever its size. */
    value: natural,
    deviation: natural,
    /** Of each millisecond of the requests' own CPU. */
    own: rate,
    /** Common errors of two estimates, of the unit of the one times the unit of the other. */
    covariances: z
      .object({ requestOwn: z.int(), requestActive: z.int(), ownActive: z.int() })
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
  })
  .readonly()

export type OperationRate = z.infer<typeof operationRate>
export type IndirectRates = z.infer<typeof rates> & {
  /**
   * The greatest total of indirect CPU, in nanoseconds, that each session of a gateway may have billed since it
   * began. Absent: none.
   */
  readonly allowedNs?: Readonly<Record<string, number>>
}

export const NO_RATES: IndirectRates = {
  levelMilli: 1000,
  activeSecond: { value: 0, deviation: 0 },
  operations: {},
  rest: { value: 0, deviation: 0 },
}

/** Reads stored rates, without the totals of sessions; undefined when they are damaged. */
export const parseRates = (stored: unknown): IndirectRates | undefined =>
  rates.safeParse(stored).data
