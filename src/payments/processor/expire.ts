// Holds of the test processor that nobody captured in time are given up, as the networks of cards do, and pages that
// nobody filled in are closed.
import type { State } from '#state/connect.ts'
import { expireCheckout } from './checkout.ts'
import { cancelIntent } from './intents.ts'
import { openObjects, type ProcessorObject } from './objects.ts'

const BATCH = 100

/** Gives up those that are due; the number of them. */
export const expireDue = (state: State): Promise<number> =>
  state.transaction(async (transaction) => {
    const objects = await openObjects(transaction)
    const { rows } = await transaction.query<{ body: ProcessorObject }>(
      `select body from test_processor_objects where kind = 'payment_intent' and body ->> 'status' = 'requires_capture'
         and (body ->> 'capture_before')::bigint <= $1 limit ${BATCH} for update skip locked`,
      [objects.now],
    )
    for (const { body } of rows) await cancelIntent(objects, body, 'automatic')
    const pages = await transaction.query<{ body: ProcessorObject }>(
      `select body from test_processor_objects where kind = 'checkout.session' and body ->> 'status' = 'open'
         and (body ->> 'expires_at')::bigint <= $1 limit ${BATCH} for update skip locked`,
      [objects.now],
    )
    for (const { body } of pages.rows) await expireCheckout(objects, body)
    return rows.length + pages.rows.length
  })
