// The type of a reply, for programs that read replies and load no zod.
import type { z } from 'zod'

export type ReplySchema = z.ZodType

/** The value that a schema of the contract describes, as a program reads it. */
export type ReplyOf<Schema extends ReplySchema> = z.output<Schema>
