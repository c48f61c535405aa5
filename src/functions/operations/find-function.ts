// Functions of an account as the API shows them.
import { nj, printJoules } from '#base/units.ts'
import { printEnergyPerDay } from '#contract/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import { CHANGE_UNDER_WAY, FUNCTION_CONCURRENCY } from '#contract/function-limits.ts'
import type { FunctionReply } from '#contract/functions.ts'
import { urlOfAccount } from '#contract/functions-address.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import type { Queryable } from '#state/connect.ts'

export type FunctionRow = {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly region: string
  readonly route: string
  readonly runtime: string
  readonly memory_bytes: string
  readonly timeout_s: number
  readonly env_names: string[]
  readonly buckets: readonly string[]
  readonly schedule: string | null
  readonly concurrency: number | null
  readonly runs_waiting: number
  readonly runs_failed: number
  readonly nj_per_day: string | null
  readonly used_nj: string
  readonly actual: FunctionReply['status']
  readonly reason: string | null
  readonly is_pending: boolean
  readonly version: number
  readonly live_version: number | null
  readonly versions: FunctionReply['versions']
  readonly created_at: Date
}

/** As their live versions are, or as is wanted before there is one: the functions of an account, or the one that has this id or name. */
async function rowsOf(state: Queryable, account: string, wanted: string | null) {
  const { rows } = await state.query<FunctionRow>(
    `select n.id, n.account, n.name, n.region, v.route, v.runtime, v.memory_bytes::text, v.timeout_s, v.env_names, v.buckets, v.schedule,
    coalesce(v.concurrency, v.default_concurrency) as concurrency,
       (select count(*)::int from function_runs d where d.function = n.id and d.next_at is not null) as runs_waiting,
       (select count(*)::int from function_runs d where d.function = n.id and d.next_at is null) as runs_failed,
       n.actual, n.reached_revision < n.revision as is_pending, f.version, f.live_version, n.created_at,
       coalesce(case when n.actual <> 'suspended' then 'version ' || f.version || ' cannot be started: ' || w.failure end, n.reason,
         case n.held when 'balance' then 'the account cannot pay'
           when 'budget' then 'today''s energy budget is used up'
           when 'suspended' then 'the operator suspended the account'
           when 'deleting' then 'the account is being deleted' end) as reason,
       b.nj_per_day::text, budget_used_nj(n.id)::text as used_nj,
       (select jsonb_agg(jsonb_build_object('version', o.version, 'file', o.file, 'runtime', o.runtime,
           'memory_bytes', o.memory_bytes, 'failure', o.failure, 'created_at',
           to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by o.version desc)
         from function_versions o where o.function = n.id) as versions
     from resources n join functions f using (id)
       join function_versions w on w.function = f.id and w.version = f.version
       join function_versions v on v.function = f.id and v.version = coalesce(f.live_version, f.version)
       left join budgets b using (id)
     where n.account = $1 and n.kind = 'function' and n.desired <> 'deleted'
       and ($2::text is null or n.id = $2 or n.name = $2)
     order by n.id`,
    [account, wanted],
  )
  return rows
}

export const functionsOf = (state: Queryable, account: string): Promise<FunctionRow[]> =>
  rowsOf(state, account, null)

/** By its id or its name. */
export const functionNamed = async (
  state: Queryable,
  account: string,
  wanted: string,
): Promise<FunctionRow | undefined> => (await rowsOf(state, account, wanted))[0]

/** Throws function_not_found. */
export async function findFunction(
  state: Queryable,
  account: string,
  wanted: string,
): Promise<FunctionRow> {
  const row = await functionNamed(state, account, wanted)
  if (row !== undefined) return row
  throw fault('function_not_found', `Could not find the function: "${wanted.slice(0, 100)}"`)
}

/** Statuses that do not say by themselves that there is work. */
const IS_MADE: ReadonlySet<FunctionReply['status']> = new Set(['deployed', 'suspended'])

export const functionReplyOf = (
  row: FunctionRow,
  { address }: FunctionGatewaySettings,
): FunctionReply => ({
  id: row.id,
  object: 'function',
  name: row.name,
  region: row.region,
  url: address === undefined ? row.route : `${urlOfAccount(address, row.account)}${row.route}`,
  route: row.route,
  runtime: row.runtime,
  memory_bytes: Number(row.memory_bytes),
  timeout_s: row.timeout_s,
  env: row.env_names,
  energy_budget: row.nj_per_day === null ? null : printEnergyPerDay(nj(BigInt(row.nj_per_day))),
  energy_budget_used_j:
    row.nj_per_day === null ? null : Number(printJoules(nj(BigInt(row.used_nj)))),
  on: row.buckets.map((bucket) => `bucket/${bucket}/object-created`),
  schedule: row.schedule,
  concurrency: row.concurrency ?? FUNCTION_CONCURRENCY,
  runs_waiting: row.runs_waiting,
  runs_failed: row.runs_failed,
  status: row.actual,
  reason: row.reason ?? (row.is_pending && IS_MADE.has(row.actual) ? CHANGE_UNDER_WAY : null),
  version: row.version,
  live_version: row.live_version,
  versions: row.versions,
  created_at: row.created_at.toISOString(),
})
