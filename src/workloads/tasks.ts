// The background half of workloads: the standing charge of their volumes, and their end with their account.
import {
  createStoredBytes,
  storedLookOf,
  zjPerByteMs,
  type StoragePower,
  type StoredLookRow,
} from '#charging/stored-bytes.ts'
import { chargedResource } from '#contract/charged-resource.ts'
import { keepRetention } from '#node/keep-retention.ts'
import type { TasksCore, TasksPart, TasksProduct } from '#node/tasks-part.ts'
import { leaveResources } from '#resources/leave.ts'
import { isStateAway } from '#state/connect.ts'

export type WorkloadsTaskSettings = {
  readonly minuteMs: number
  readonly power: StoragePower
  /** Days of storage that are kept of a balance. */
  readonly retentionDays: number
}

export const WORKLOADS_TASKS: TasksProduct<WorkloadsTaskSettings> = { name: 'workloads', open }

const KIND = 'workload'

function open(core: TasksCore, settings: WorkloadsTaskSettings): TasksPart {
  const { state } = core
  const { minuteMs, power } = settings
  const stored = createStoredBytes<string>(
    { ...core, minuteMs },
    {
      operation: 'volume.standing',
      meter: 'volume',
      name: 'volumes',
      async after(last, limit) {
        // Also those that have none any more, and owe something.
        const { rows } = await state.query<{ id: string }>(
          `select id from (
             select distinct workload as id from workload_volumes union
             select id from standing_samples where kind = $3) w
           where id > $1 order by id limit $2`,
          [last ?? '', limit, KIND],
        )
        return rows.map(({ id }) => id)
      },
      async look(ids) {
        const { rows } = await state.query<StoredLookRow>(
          'select * from workload_look($1, $2, $3)',
          [minuteMs, ids, String(zjPerByteMs(power))],
        )
        return rows.map(storedLookOf)
      },
      isAway: isStateAway,
      sums: (bytesOf) => keepRetention({ state, ...settings }, 'volume', bytesOf),
      resource: ({ id }) => chargedResource(id),
    },
  )
  return {
    run: stored.run,
    async leave(account) {
      await state.query('delete from registry_passwords where account = $1', [account])
      return await leaveResources(state, account, KIND)
    },
  }
}
