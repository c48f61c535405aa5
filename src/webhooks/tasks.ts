// The background half of webhooks: old deliveries go, and clocks that were set back are made up for.
import { present } from '#base/errors.ts'
import type { TasksProduct } from '#node/tasks-part.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { Queryable } from '#state/connect.ts'
import { inBatches } from '#state/in-batches.ts'
import type { WebhooksTaskSettings } from './settings.ts'

const EVERY_MS = 60_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3
/** Waiting time of deliveries beside idle endpoints that raises an alarm. */
const BEHIND_S = 600
/** Looks in a row: after a start or a resume, deliveries are due for long and are sent soon. */
const BEHIND_LOOKS = 2
/** Deliveries that one transaction changes. */
const BATCH = 5000

export const WEBHOOKS_TASKS: TasksProduct<WebhooksTaskSettings> = {
  name: 'webhooks',
  open: ({ state }, { logDays }) => {
    const tellBehind = createBehindAlarm(state)
    return {
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
            await inBatches(state, 'webhook_upkeep($1, $2)', [logDays, BATCH], signal)
            await tellBehind()
          },
        },
      },
    }
  },
}

/** Looks for endpoints that nobody attends to; raises an alarm where they were found several times in a row. */
export function createBehindAlarm(state: Queryable): () => Promise<void> {
  let looks = 0
  return async () => {
    const { rows } = await state.query<{ endpoints: string; since: Date | null }>(
      'select endpoints, since from webhooks_unattended($1)',
      [`${BEHIND_S} seconds`],
    )
    const { endpoints, since } = present(rows[0], 'a row of sums')
    looks = since === null ? 0 : looks + 1
    if (looks >= BEHIND_LOOKS)
      await raiseAlarm(state, 'webhooks_behind', { endpoints, since }, { key: 'webhooks' })
  }
}
