// The operator's operation on the signers of receipts.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'

export const RECEIPTS_CONTROL = {
  'signer.new-key': {
    request: ownObject({}),
    answer: z.strictObject({
      origin: z.string(),
      before: z.string(),
      /** The folder with the rest of the old key, when the old key could not sign any more. */
      aside: z.string().optional(),
      /** A note on the new key, signed by the old key, when the old key could sign. */
      handover: z.string().optional(),
    }),
  },
} satisfies ControlTable
