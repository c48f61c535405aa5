// The type of an event: a fact about an account, written by `emit_event()` in the transaction of its cause.
import { z } from 'zod'

export type EventEntry = {
  /** The cause, as documented. */
  readonly help: string
  /** The column `data`. */
  readonly data: z.ZodObject
}

/** Events by type: `<noun>.<past participle or state>`. */
export type EventTable = Readonly<Record<string, EventEntry>>

/** An event; every event also has its account and its number among the account's events. */
export const eventOf = (help: string, fields: z.core.$ZodLooseShape): EventEntry => ({
  help,
  data: z.strictObject({ ...fields, account_id: z.string(), sequence: z.int().min(1) }),
})
