// The background half of workloads: the standing charges of their volumes and images, and their end with their account.
import type { StoragePower } from '#charging/stored-bytes.ts'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import { createStoredThings } from '#node/stored-things.ts'
import type { TasksCore, TasksPart, TasksProduct } from '#node/tasks-part.ts'
import { leaveResources } from '#resources/leave.ts'

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
  const deps = { ...core, ...settings }
  const kinds = [
    createStoredThings<string>(deps, {
      operation: 'volume.standing',
      meter: 'volume',
      name: 'volumes',
      source: 'volume',
      // Also those that have none any more, and owe something.
      after: `select id from (
          select distinct workload as id from workload_volumes union
          select id from standing_samples where kind = '${KIND}') w
        where id > $1 order by id limit $2`,
      first: '',
      look: 'workload_look',
      resource: ({ id }) => chargedResource(id),
    }),
    createStoredThings<string>(deps, {
      operation: 'image.standing',
      meter: 'image',
      name: 'images',
      source: 'image',
      after: `select id from (
          select workload as id from workload_versions where image_word is not null union
          select id from standing_samples where kind = 'image') w
        where id > $1 order by id limit $2`,
      first: '',
      look: 'image_look',
      resource: ({ id }) => chargedResource(id),
    }),
  ]
  return {
    run: async (signal) => void (await Promise.all(kinds.map((kind) => kind.run(signal)))),
    async leave(account) {
      await state.query('delete from registry_passwords where account = $1', [account])
      return await leaveResources(state, account, KIND)
    },
  }
}
