// The background half of webhooks: old deliveries go, and clocks that were set back are made up for.
import type { TasksProduct } from '#node/tasks-part.ts'
import type { WebhooksTaskSettings } from './settings.ts'

const EVERY_MS = 60_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3
/** Deliveries that one transaction changes. */
const BATCH = 5000

export const WEBHOOKS_TASKS: TasksProduct<WebhooksTaskSettings> = {
  name: 'webhooks',
  open: ({ state }, { logDays }) => ({
    async leave(account) {
      await state.query('select leave_webhooks($1)', [account])
      return undefined
    },
    tasks: {
      'webhooks.upkeep': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        async run(_, { signal }) {
          for (let isMore = true; isMore; signal.throwIfAborted()) {
            const { rows } = await state.query<{ more: boolean }>(
              'select webhook_upkeep($1, $2) as more',
              [logDays, BATCH],
            )
            isMore = rows[0]?.more === true
          }
        },
      },
    },
  }),
}
