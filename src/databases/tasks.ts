// The background half of databases: the standing charge of their stored bytes.
import {
  createStoredBytes,
  storedLookOf,
  zjPerByteMs,
  type StoragePower,
  type StoredLookRow,
} from '#charging/stored-bytes.ts'
import type { TasksCore, TasksPart, TasksProduct } from '#node/tasks-part.ts'
import { isStateAway } from '#state/connect.ts'

export type DatabasesTaskSettings = { readonly minuteMs: number; readonly power: StoragePower }

export const DATABASES_TASKS: TasksProduct<DatabasesTaskSettings> = { name: 'databases', open }

function open(core: TasksCore, { minuteMs, power }: DatabasesTaskSettings): TasksPart {
  const { state } = core
  const stored = createStoredBytes<string>(
    { ...core, minuteMs },
    {
      operation: 'database.standing',
      meter: 'database',
      name: 'databases',
      async after(last, limit) {
        const { rows } = await state.query<{ id: string }>(
          `(select id from resources where kind = 'database' and desired <> 'deleted' and id > $1
             order by id limit $2)
           union
           (select id from standing_samples where kind = 'database' and account is not null and id > $1
             order by id limit $2)
           order by id limit $2`,
          [last ?? '', limit],
        )
        return rows.map(({ id }) => id)
      },
      async look(ids) {
        const { rows } = await state.query<StoredLookRow>(
          'select * from database_look($1, $2, $3)',
          [minuteMs, ids, String(zjPerByteMs(power))],
        )
        return rows.map(storedLookOf)
      },
      isAway: isStateAway,
      resource: (name) => `database:${name}`,
    },
  )
  return { run: stored.run }
}
