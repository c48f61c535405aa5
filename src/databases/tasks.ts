// The background half of databases: the standing charge of their stored bytes.
import type { StoragePower } from '#charging/stored-bytes.ts'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import { createStoredThings } from '#node/stored-things.ts'
import type { TasksCore, TasksPart, TasksProduct } from '#node/tasks-part.ts'
import type { Tasks } from '#tasks/task.ts'

export type DatabasesTaskSettings = {
  readonly minuteMs: number
  readonly power: StoragePower
  /** Days of storage that are kept of a balance. */
  readonly retentionDays: number
  /** From one nightly backup to the next, and how long times can be restored. */
  readonly backupDayMs: number
  readonly backupsKeptMs: number
  /** Log that is not stored for so long raises an alarm. */
  readonly logLateMs: number
}

const MINUTE_MS = 60_000
const LOOKS_PER_DAY = 10
const ATTEMPTS = 5
const TIMEOUT_MS = 60_000

export const DATABASES_TASKS: TasksProduct<DatabasesTaskSettings> = { name: 'databases', open }

function open(core: TasksCore, settings: DatabasesTaskSettings): TasksPart {
  const { state } = core
  const stored = createStoredThings<string>(
    { ...core, ...settings },
    {
      operation: 'database.standing',
      meter: 'database',
      name: 'databases',
      source: 'database',
      after: `(select id from resources n join databases d using (id)
          where (n.desired <> 'deleted' or d.backup_bytes > 0) and id > $1 order by id limit $2)
        union
        (select id from standing_samples where kind = 'database' and account is not null and id > $1
          order by id limit $2)
        order by id limit $2`,
      first: '',
      look: 'database_look',
      resource: ({ id }) => chargedResource(id),
    },
  )
  return {
    run: stored.run,
    tasks: backupTasks(core, settings),
    async leave(account) {
      const { rows } = await state.query<{ why: string | null }>(
        'select leave_databases($1) as why',
        [account],
      )
      return rows[0]?.why ?? undefined
    },
  }
}

const backupTasks = (
  { state, log }: TasksCore,
  { backupDayMs, backupsKeptMs, logLateMs }: DatabasesTaskSettings,
): Tasks => ({
  'databases.backups': {
    attempts: ATTEMPTS,
    timeoutMs: TIMEOUT_MS,
    everyMs: Math.min(MINUTE_MS, backupDayMs / LOOKS_PER_DAY),
    async run() {
      await state.query('select tell_late_logs($1)', [logLateMs])
      await state.query('select want_nightly_backups($1)', [backupDayMs])
      const failing = await state.query<{ id: string }>('select tell_failed_backups() as id')
      for (const { id } of failing.rows)
        log.error('The nightly backups of a database failed three times in a row', { id })
      await state.query('select expire_backups($1)', [backupsKeptMs])
    },
  },
})
