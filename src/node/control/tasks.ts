// Operator operations on background tasks.
import type { ControlRoute } from './control.ts'
import type { State } from '#state/connect.ts'
import { listTasks, retryJob, runTask } from '#tasks/admin.ts'

export const taskRoutes = (state: State): readonly ControlRoute[] => [
  { method: 'GET', path: /^\/tasks$/, handle: () => listTasks(state) },
  {
    method: 'POST',
    path: /^\/tasks\/dead\/([^/]+)\/retry$/,
    handle: async ({ parameters: [id = ''] }) => {
      await retryJob(state, id)
      return { retried: id }
    },
  },
  {
    method: 'POST',
    path: /^\/tasks\/([^/]+)\/run$/,
    handle: ({ parameters: [name = ''] }) => runTask(state, name),
  },
]
