// The background half of functions: they go with their account.
import type { TasksProduct } from '#node/tasks-part.ts'

export const FUNCTIONS_TASKS: TasksProduct = {
  name: 'functions',
  open: ({ state }) => ({
    async leave(account) {
      const { rows } = await state.query<{ why: string | null }>(
        'select leave_functions($1) as why',
        [account],
      )
      return rows[0]?.why ?? undefined
    },
  }),
}
