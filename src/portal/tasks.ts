// The background half of the portal: what has ended goes.
import type { TasksProduct } from '#node/tasks-part.ts'
import { inBatches } from '#state/in-batches.ts'

const EVERY_MS = 60_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3
/** Rows of a table that one transaction removes. */
const BATCH = 5000

export const PORTAL_TASKS: TasksProduct = {
  name: 'portal',
  open: ({ state }) => ({
    async leave(account) {
      await state.query('select leave_portal($1)', [account])
      return undefined
    },
    tasks: {
      'portal.upkeep': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        async run(_, { signal }) {
          await inBatches(state, 'portal_upkeep($1)', [BATCH], signal)
        },
      },
    },
  }),
}
