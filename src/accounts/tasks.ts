// The background half of accounts: due deletions, and the suspension of resources that cannot be paid.
import type { TasksCore, TasksProduct } from '#node/tasks-part.ts'
import { deleteAccounts } from './delete-accounts.ts'

const EVERY_MS = 5000
/** The time from an empty balance to the suspension, which is kept of the balance (node/grace.ts). */
const GRACE_S = 60
const ATTEMPTS = 3
const TIMEOUT_MS = 600_000

export const ACCOUNTS_TASKS: TasksProduct = {
  name: 'accounts',
  open: (core: TasksCore) => ({
    tasks: {
      'accounts.delete': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        run: (_, { signal }) => deleteAccounts(core, signal),
      },
      'accounts.hold': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        run: async () =>
          void (await core.state.query("select hold_unpaid($1 * interval '1 s')", [GRACE_S])),
      },
    },
  }),
}
