// The background half of workloads: they go with their account.
import type { TasksProduct } from '#node/tasks-part.ts'
import { leaveResources } from '#resources/leave.ts'

export const WORKLOADS_TASKS: TasksProduct = {
  name: 'workloads',
  open: ({ state }) => ({
    leave: (account) => leaveResources(state, account, 'workload'),
  }),
}
