// Requests and replies of the deletion of an account, its restoration and its export.
import { z } from 'zod'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'

const time = z.iso.datetime()

export const accountDeletion = ownObject({
  /** The id of the account: nobody deletes one by mistake. */
  confirm: z.string().max(100),
  /** Deletes a test account at once, without days in which that can be taken back. */
  at_once: z.boolean().default(false),
})
export type AccountDeletion = z.infer<typeof accountDeletion>

/** Throws invalid_request. */
export const parseAccountDeletion = (json: unknown): AccountDeletion =>
  parseWith(accountDeletion, json)

/** A line of the export. */
export const exportRecord = z.looseObject({
  /** The kind, such as token or ledger; `end` of the last line, which has the number of the others. */
  record: z.string(),
})

export const accountRestoration = ownObject({})
type AccountRestoration = z.infer<typeof accountRestoration>

/** Throws invalid_request. */
export const parseAccountRestoration = (json: unknown): AccountRestoration =>
  parseWith(accountRestoration, json)

export const accountDeletionReply = z.object({
  id: z.string(),
  object: z.literal('account'),
  status: z.enum(['active', 'deleting']),
  /** Until then it can be restored; null: it is not being deleted. */
  deletes_at: time.nullable(),
})

/** Something that stands against a deletion. */
export type Obstacle = {
  /** Such as s3:photos. */
  readonly resource: string
  readonly reason: string
}
