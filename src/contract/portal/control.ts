// The operator's operation on the portal: a link for a member that has lost its passkeys.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'

export const PORTAL_CONTROL = {
  'member.recover': {
    request: ownObject({
      /** The id of a member, or of an account: then of the owner who has been there longest. */
      target: z.string().max(100),
    }),
    answer: z.strictObject({
      member: z.string(),
      account: z.string(),
      /** Valid once, for a day: the browser that opens it adds a passkey of the member. */
      url: z.string(),
    }),
  },
} satisfies ControlTable
