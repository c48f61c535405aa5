// The operator's operations on databases.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'

export const DATABASES_CONTROL = {
  /** Restores all databases whose files are missing, each in its own place. Answers with these, and does not wait. */
  'database.restore-lost': {
    request: ownObject({}),
    answer: z.array(
      z.strictObject({
        id: z.string(),
        account: z.string(),
        name: z.string(),
        /** False: there is no backup yet. */
        is_restoring: z.boolean(),
        /** The time up to which its rows come back; null: all of them do. */
        stored_to: z.string().nullable(),
      }),
    ),
  },
} satisfies ControlTable
