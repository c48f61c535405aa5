// The background half of workloads: they go with their account.
import type { TasksProduct } from '#node/tasks-part.ts'

export const WORKLOADS_TASKS: TasksProduct = {
  name: 'workloads',
  open: ({ state }) => ({
    async leave(account) {
      const { rows } = await state.query<{ why: string | null }>(
        'select leave_workloads($1) as why',
        [account],
      )
      return rows[0]?.why ?? undefined
    },
  }),
}
