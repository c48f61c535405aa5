// The background half of the status: old counts go, and those of an account that is removed.
import type { TasksProduct } from '#node/tasks-part.ts'
import { inBatches } from '#state/in-batches.ts'

const EVERY_MS = 3_600_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3
const BATCH = 5000

export const STATUS_TASKS: TasksProduct = {
  name: 'status',
  open: ({ state }) => ({
    async leave(account) {
      await state.query('select leave_error_rates($1)', [account])
      return undefined
    },
    tasks: {
      'status.upkeep': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        async run(_, { signal }) {
          await inBatches(state, 'error_rates_upkeep($1)', [BATCH], signal)
        },
      },
    },
  }),
}
