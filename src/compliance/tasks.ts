// The background half of evidence packs: old ones go, and those of an account that is deleted.
import type { TasksProduct } from '#node/tasks-part.ts'
import type { ComplianceTaskSettings } from './settings.ts'

const HOUR_MS = 3_600_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3
/** Packs that one transaction removes. */
const BATCH = 1000

const LEAVE =
  'select drop_pack(id) from (select id from evidence_packs where account = $1 limit $2) own'

export const COMPLIANCE_TASKS: TasksProduct<ComplianceTaskSettings> = {
  name: 'compliance',
  open: ({ state }, { keptDays }) => ({
    async leave(account, signal) {
      for (let gone = BATCH; gone === BATCH; signal.throwIfAborted())
        gone = (await state.query(LEAVE, [account, BATCH])).rowCount
      return undefined
    },
    tasks: {
      'compliance.expire': {
        everyMs: HOUR_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        async run(_, { signal }) {
          for (let gone = BATCH; gone === BATCH; signal.throwIfAborted()) {
            const { rows } = await state.query<{ gone: number }>(
              'select expire_packs($1, $2) as gone',
              [keptDays, BATCH],
            )
            gone = rows[0]?.gone ?? 0
          }
        },
      },
    },
  }),
}
