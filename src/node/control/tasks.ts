// The operator's operations on background tasks.
import type { NODE_CONTROL } from '#contract/node/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { State } from '#state/connect.ts'
import { listTasks, retryJob, runTask } from '#tasks/admin.ts'

export const taskHandlers = (state: State) =>
  ({
    'task.list': () => listTasks(state),
    'task.run': ({ name }) => runTask(state, name),
    'task.retry': async ({ job }) => {
      await retryJob(state, job)
      return { retried: job }
    },
  }) satisfies Partial<ControlHandlers<typeof NODE_CONTROL>>
