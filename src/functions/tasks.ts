// The background half of functions: they go with their account, and runs that nobody takes are limited.
import { FUNCTION_LOG_LINES_MAX, FUNCTION_RUNS_MAX } from '#contract/functions/function-limits.ts'
import type { TasksProduct } from '#node/tasks-part.ts'
import { leaveResources } from '#resources/leave.ts'
import type { Queryable } from '#state/connect.ts'

const EVERY_MS = 600_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3

export const FUNCTIONS_TASKS: TasksProduct = {
  name: 'functions',
  open: ({ state }) => ({
    leave: (account) => leaveResources(state, account, 'function'),
    tasks: {
      'functions.runs': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        run: () => forgetRuns(state),
      },
    },
  }),
}

/** Of a function that cannot keep up, or is suspended, the newest runs wait; its log says how many were dropped. */
export async function forgetRuns(state: Queryable, most = FUNCTION_RUNS_MAX): Promise<void> {
  const { rows } = await state.query<{ function: string; dropped: string }>(
    'select * from forget_function_runs($1)',
    [most],
  )
  const at = new Date().toISOString()
  const lines = rows.map(({ function: id, dropped }) => ({
    resource: id,
    at,
    source: null,
    level: 'error',
    text: `${dropped} runs were dropped: more than ${most} waited`,
  }))
  if (lines.length > 0)
    await state.query('select log_resources($1, $2)', [
      JSON.stringify(lines),
      FUNCTION_LOG_LINES_MAX,
    ])
}
