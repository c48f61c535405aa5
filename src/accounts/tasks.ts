// The background half of accounts: deletions that are due.
import type { TasksCore, TasksProduct } from '#node/tasks-part.ts'
import { deleteAccounts } from './delete-accounts.ts'

const EVERY_MS = 5000
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
    },
  }),
}
