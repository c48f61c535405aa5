// Functions of an account as the API shows them.
import { FUNCTION_CONCURRENCY } from '#contract/functions/function-limits.ts'
import type { FunctionReply } from '#contract/functions/functions.ts'
import { objectsOf } from '#contract/storage/object-created.ts'
import { urlOfAccount } from '#contract/functions/functions-address.ts'
import type { FunctionGatewaySettings } from './settings.ts'
import { versionsColumn } from '#resources/versions.ts'
import {
  failedVersion,
  sharedFields,
  shownResources,
  type ShownResource,
} from '#resources/shown-resources.ts'

export type FunctionRow = ShownResource & {
  readonly actual: FunctionReply['status']
  readonly route: string
  readonly hosts: string[]
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
export const SHOWN_FUNCTIONS = shownResources<FunctionRow, FunctionGatewaySettings, FunctionReply>({
  kind: 'function',
  notFound: 'function_not_found',
  columns: `v.route, n.hosts, v.runtime, v.memory_bytes::text, v.timeout_s, v.env_names, v.buckets, v.schedule,
    coalesce(v.concurrency, v.default_concurrency) as concurrency,
    (select count(*)::int from function_runs d where d.function = n.id and d.next_at is not null) as runs_waiting,
    (select count(*)::int from function_runs d where d.function = n.id and d.next_at is null) as runs_failed,
    n.version, n.live_version, ${versionsColumn({
      table: 'function_versions',
      key: 'function',
      fields: "'file', v.file, 'runtime', v.runtime, 'memory_bytes', v.memory_bytes",
    })}`,
  joins: `join function_versions v on v.function = n.id and v.version = coalesce(n.live_version, n.version)`,
  replyOf: (row, { address }) => ({
    ...sharedFields(row),
    ...failedVersion(row, 'cannot be started'),
    object: 'function',
    url: address === undefined ? row.route : `${urlOfAccount(address, row.account)}${row.route}`,
    route: row.route,
    routes: row.hosts,
    runtime: row.runtime,
    memory_bytes: Number(row.memory_bytes),
    timeout_s: row.timeout_s,
    env: row.env_names,
    on: row.buckets.map(objectsOf),
    schedule: row.schedule,
    concurrency: row.concurrency ?? FUNCTION_CONCURRENCY,
    runs_waiting: row.runs_waiting,
    runs_failed: row.runs_failed,
    status: row.actual,
    version: row.version,
    live_version: row.live_version,
    versions: row.versions,
  }),
})
