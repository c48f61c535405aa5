// The background half of webhooks: old deliveries go, and clocks that were set back are made up for.
import type { TasksProduct } from '#node/tasks-part.ts'
import type { WebhooksTaskSettings } from './settings.ts'

const EVERY_MS = 60_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3

export const WEBHOOKS_TASKS: TasksProduct<WebhooksTaskSettings> = {
  name: 'webhooks',
  open: ({ state }, { logDays }) => ({
    tasks: {
      'webhooks.upkeep': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        async run() {
          await state.query('select webhook_upkeep($1)', [logDays])
        },
      },
    },
  }),
}
