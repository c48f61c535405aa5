// Functions of an account as the API shows them.
import { FUNCTION_CONCURRENCY } from '#contract/function-limits.ts'
import type { FunctionReply } from '#contract/functions.ts'
import { urlOfAccount } from '#contract/functions-address.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import {
  failedVersion,
  sharedMembers,
  shownResources,
  type ShownResource,
} from '#resources/shown-resources.ts'

export type FunctionRow = ShownResource & {
  readonly actual: FunctionReply['status']
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
  readonly version: number
  readonly live_version: number | null
  readonly versions: FunctionReply['versions']
}

/** As their live versions are, or as is wanted before there is one. */
export const {
  of: functionsOf,
  named: functionNamed,
  find: findFunction,
} = shownResources<FunctionRow>({
  kind: 'function',
  notFound: 'function_not_found',
  columns: `v.route, v.runtime, v.memory_bytes::text, v.timeout_s, v.env_names, v.buckets, v.schedule,
    coalesce(v.concurrency, v.default_concurrency) as concurrency,
    (select count(*)::int from function_runs d where d.function = n.id and d.next_at is not null) as runs_waiting,
    (select count(*)::int from function_runs d where d.function = n.id and d.next_at is null) as runs_failed,
    f.version, f.live_version,
    (select jsonb_agg(jsonb_build_object('version', o.version, 'file', o.file, 'runtime', o.runtime,
        'memory_bytes', o.memory_bytes, 'failure', o.failure, 'created_at',
        to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by o.version desc)
      from function_versions o where o.function = n.id) as versions`,
  joins: `join functions f using (id)
    join function_versions v on v.function = f.id and v.version = coalesce(f.live_version, f.version)`,
})

export const functionReplyOf = (
  row: FunctionRow,
  { address }: FunctionGatewaySettings,
): FunctionReply => ({
  ...sharedMembers(row),
  ...failedVersion(row, 'cannot be started'),
  object: 'function',
  url: address === undefined ? row.route : `${urlOfAccount(address, row.account)}${row.route}`,
  route: row.route,
  runtime: row.runtime,
  memory_bytes: Number(row.memory_bytes),
  timeout_s: row.timeout_s,
  env: row.env_names,
  on: row.buckets.map((bucket) => `bucket/${bucket}/object-created`),
  schedule: row.schedule,
  concurrency: row.concurrency ?? FUNCTION_CONCURRENCY,
  runs_waiting: row.runs_waiting,
  runs_failed: row.runs_failed,
  status: row.actual,
  version: row.version,
  live_version: row.live_version,
  versions: row.versions,
})
