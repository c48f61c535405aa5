// The operator's operations on the toy.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'

const ofAccount = ownObject({ account: z.string() })
const account = z.strictObject({ account: z.string() })

export const TOY_CONTROL = {
  /** The accounts that have counted at least so far. */
  'toy.list': {
    request: ownObject({ least: z.int().default(0) }),
    answer: z.array(z.strictObject({ account: z.string(), count: z.string() })),
  },
  /** Sets the energy budget of an account's pings, by the day. */
  'toy.grant': {
    request: ownObject({ account: z.string(), nj: z.string().regex(/^[1-9]\d{0,17}$/) }),
    answer: account,
  },
  /** Starts and stops a cell that the account pays for. */
  'toy.start': { request: ofAccount, answer: account },
  'toy.stop': { request: ofAccount, answer: account },
} satisfies ControlTable
