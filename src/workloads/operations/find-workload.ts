// Workloads of an account as the API shows them.
import { nj, printJoules } from '#base/units.ts'
import { durationText } from '#contract/durations.ts'
import { printEnergyPerDay } from '#contract/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import { CHANGE_UNDER_WAY } from '#contract/function-limits.ts'
import type { WorkloadReply } from '#contract/workload-replies.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadHealth } from '#workloads/driver.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { workloadUrl } from '#workloads/workload-url.ts'

export type WorkloadRow = {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly region: string
  readonly host: string
  readonly hosts: string[]
  readonly image: string
  readonly digest: string | null
  readonly port: number | null
  readonly command: string[] | null
  readonly env_names: string[]
  readonly secret_names: string[]
  readonly cpu_milli: number
  readonly memory_bytes: string
  readonly health: WorkloadHealth | null
  readonly scale_min: number
  readonly scale_max: number
  readonly target_requests: number
  readonly sleep_after_ms: number
  readonly instances: string
  readonly nj_per_day: string | null
  readonly used_nj: string
  readonly actual: WorkloadReply['status']
  readonly reason: string | null
  readonly is_pending: boolean
  readonly pull: WorkloadReply['pull']
  readonly version: number
  readonly live_version: number | null
  readonly versions: WorkloadReply['versions']
  readonly created_at: Date
}

/** As their live versions are, or as is wanted before there is one: those of an account, or the one of this id or name. */
async function rowsOf(state: Queryable, account: string, wanted: string | null) {
  const { rows } = await state.query<WorkloadRow>(
    `select n.id, n.account, n.name, n.region, w.host, w.hosts, v.image, v.digest,
       coalesce(v.port, (v.config -> 'ports' ->> 0)::int) as port, v.command, v.env_names, v.secret_names, v.cpu_milli,
       v.memory_bytes::text, v.health, w.scale_min, w.scale_max, w.target_requests, w.sleep_after_ms, workload_instances(n.id)::text as instances,
       n.actual, n.reached_revision < n.revision as is_pending, w.version, w.live_version, n.created_at, p.pull,
       coalesce(case when n.actual <> 'suspended' then 'version ' || w.version || ' is not ready: ' || p.failure end, n.reason,
         case n.held when 'balance' then 'the account cannot pay' when 'budget' then 'today''s energy budget is used up'
           when 'suspended' then 'the operator suspended the account'
           when 'deleting' then 'the account is being deleted' end) as reason,
       b.nj_per_day::text, budget_used_nj(n.id)::text as used_nj,
       (select jsonb_agg(jsonb_build_object('version', o.version, 'image', o.image, 'digest', o.digest, 'failure', o.failure,
           'created_at', to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by o.version desc)
         from workload_versions o where o.workload = n.id) as versions
     from resources n join workloads w using (id)
       join workload_versions p on p.workload = w.id and p.version = w.version
       join workload_versions v on v.workload = w.id and v.version = coalesce(w.live_version, w.version)
       left join budgets b using (id)
     where n.account = $1 and n.kind = 'workload' and n.desired <> 'deleted'
       and ($2::text is null or n.id = $2 or n.name = $2)
     order by n.id`,
    [account, wanted],
  )
  return rows
}

export const workloadsOf = (state: Queryable, account: string): Promise<WorkloadRow[]> =>
  rowsOf(state, account, null)

/** By its id or name. */
export const workloadNamed = async (
  state: Queryable,
  account: string,
  wanted: string,
): Promise<WorkloadRow | undefined> => (await rowsOf(state, account, wanted))[0]

/** Throws workload_not_found. */
export async function findWorkload(
  state: Queryable,
  account: string,
  wanted: string,
): Promise<WorkloadRow> {
  const row = await workloadNamed(state, account, wanted)
  if (row !== undefined) return row
  throw fault('workload_not_found', `Could not find the workload: "${wanted.slice(0, 100)}"`)
}

/** Statuses that do not say by themselves that there is work. */
const IS_MADE: ReadonlySet<WorkloadReply['status']> = new Set(['deployed', 'suspended'])
const MILLI = 1000

export const workloadReplyOf = (
  row: WorkloadRow,
  { address }: Pick<WorkloadGatewaySettings, 'address'>,
): WorkloadReply => ({
  id: row.id,
  object: 'workload',
  name: row.name,
  region: row.region,
  url: address === undefined ? `http://${row.host}` : workloadUrl(address, row.host),
  routes: row.hosts,
  image: row.image,
  digest: row.digest,
  port: row.port,
  command: row.command,
  env: row.env_names,
  secrets: row.secret_names,
  cpu: row.cpu_milli / MILLI,
  memory_bytes: Number(row.memory_bytes),
  health: row.health && {
    path: row.health.path,
    interval: durationText(row.health.intervalMs),
    timeout: durationText(row.health.timeoutMs),
  },
  scale: { min: row.scale_min, max: row.scale_max, target_requests: row.target_requests },
  scale_to_zero_after: durationText(row.sleep_after_ms),
  instances: Number(row.instances),
  energy_budget: row.nj_per_day === null ? null : printEnergyPerDay(nj(BigInt(row.nj_per_day))),
  energy_budget_used_j:
    row.nj_per_day === null ? null : Number(printJoules(nj(BigInt(row.used_nj)))),
  status: row.actual,
  reason: row.reason ?? (row.is_pending && IS_MADE.has(row.actual) ? CHANGE_UNDER_WAY : null),
  pull: row.pull,
  version: row.version,
  live_version: row.live_version,
  versions: row.versions,
  created_at: row.created_at.toISOString(),
})
