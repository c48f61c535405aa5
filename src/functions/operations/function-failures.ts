// GET /v1/functions/{id or name}/failures, POST …/failures/replay and …/discard: the runs that failed for good.
import { fault } from '#contract/errors.ts'
import { FUNCTION_FAILURES_MAX } from '#contract/functions/function-limits.ts'
import type {
  FunctionDiscardRequest,
  FunctionReplayRequest,
} from '#contract/functions/functions.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { recordAct } from '#identity/audit.ts'
import type { Queryable, State } from '#state/connect.ts'
import { SHOWN_FUNCTIONS } from '#functions/find-function.ts'

type RunRow = {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, string>>
  readonly attempts: number
  readonly error: string | null
  readonly request: string | null
  readonly created_at: Date
  readonly attempted_at: Date | null
  readonly next_at: Date | null
}

const COLUMNS = 'id::text, event, data, attempts, error, request, created_at, attempted_at, next_at'
const FAILURES = `select * from (
    select ${COLUMNS} from function_runs where function = $1 and next_at is null
    order by function_runs.id desc limit $2
  ) dead union all select * from (
    select ${COLUMNS} from function_runs where function = $1 and next_at is not null and attempts > 0
    order by function_runs.id desc limit $2
  ) waiting`

export const createFunctionFailures =
  ({ state }: { readonly state: Queryable }): Handler =>
  async (call) => {
    const { id } = await askedResource(SHOWN_FUNCTIONS, state, call)
    const { rows } = await state.query<RunRow>(FAILURES, [id, FUNCTION_FAILURES_MAX])
    return known({
      object: 'list',
      data: rows.flatMap((row) => (row.next_at === null ? [shownRun(row)] : [])),
      waiting: rows.flatMap((row) =>
        row.next_at === null ? [] : [{ ...shownRun(row), next_at: row.next_at.toISOString() }],
      ),
    })
  }

const shownRun = ({ id, event, data, attempts, error, request, ...times }: RunRow) => ({
  id,
  event,
  data,
  attempts,
  error,
  request_id: request,
  created_at: times.created_at.toISOString(),
  attempted_at: times.attempted_at?.toISOString() ?? null,
})

export const createFunctionReplay = ({ state }: Deps): Handler<FunctionReplayRequest> =>
  onFailures(state, 'function.replay', 'select replay_function_runs($1, $2) as runs')

export const createFunctionDiscard = ({ state }: Deps): Handler<FunctionDiscardRequest> =>
  onFailures(state, 'function.discard', 'select discard_function_runs($1, $2) as runs')

type Deps = { readonly state: State }

/** Has `sql` act on the failed run that the body names, or on all; `sql` returns their number. */
const onFailures =
  (state: State, action: string, sql: string): Handler<{ readonly id?: string | undefined }> =>
  async (call) => {
    const { body } = call
    const { id } = await askedResource(SHOWN_FUNCTIONS, state, call)
    const runs = await state.transaction(async (transaction) => {
      await recordAct(transaction, call, { action, target: id, details: body })
      const { rows } = await transaction.query<{ runs: number }>(sql, [id, body.id ?? null])
      const found = rows[0]?.runs ?? 0
      if (body.id !== undefined && found === 0)
        throw fault('function_run_not_found', `Could not find a failed run: ${body.id}`)
      return found
    })
    return known({ object: action, runs })
  }
