// The operator's operations on the toy.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/own-object.ts'

export const TOY_CONTROL = {
  /** The accounts that have counted at least so far. */
  'toy.list': {
    request: ownObject({ least: z.int().default(0) }),
    answer: z.array(z.strictObject({ account: z.string(), count: z.string() })),
  },
} satisfies ControlTable
