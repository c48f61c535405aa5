// Lookup of any id of an account.
import { z } from 'zod'

/** GET /v1/lookup/{id}. */
export const lookupReply = z.object({
  object: z.literal('lookup'),
  /** The id of the thing: a receipt's for that of its request. */
  id: z.string(),
  kind: z.string(),
  /** Its name; the operation of a receipt, the type of an event. */
  name: z.string(),
  /** The path of the API that has it, or the list that does. */
  path: z.string(),
})
