// The error rate of an account, as its owner reads it.
import { z } from 'zod'

export const errorRate = z.object({
  object: z.literal('error_rate'),
  /** The account's name on the status page; null until its first requests are counted, within a minute. */
  public_name: z.string().nullable(),
  hours: z.int(),
  requests: z.int().min(0),
  /** Answers of 500 and above, time-outs among them. */
  failures: z.int().min(0),
  /** True where the status page shows it: from `requests_least` requests on. */
  shown: z.boolean(),
  requests_least: z.int(),
})
export type ErrorRate = z.infer<typeof errorRate>
