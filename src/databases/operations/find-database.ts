// Databases of an account as the API shows them.
import { nj, printJoules } from '#base/units.ts'
import type { DatabaseReply } from '#contract/databases.ts'
import { printEnergyPerDay } from '#contract/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import type { AwakeInterval, SleepCause, WakeCause } from '#contract/intervals.ts'
import { intervalOf } from '#resources/intervals.ts'
import type { Queryable } from '#state/connect.ts'
import type { GatewaySettings } from '#databases/settings.ts'

export type DatabaseRow = {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly size_bytes: string
  readonly stored_bytes: string
  readonly wal_bytes: string
  readonly is_full: boolean
  readonly nj_per_day: string | null
  readonly used_nj: string
  readonly postgres_version: string | null
  readonly vector_version: string | null
  readonly extensions: DatabaseReply['extensions']
  readonly wants_upgrade: boolean
  readonly actual: DatabaseReply['status']
  readonly reason: string | null
  readonly is_pending: boolean
  readonly role: string
  readonly revision: number
  readonly created_at: Date
  readonly restored_bytes: string | null
  readonly restore_bytes: string | null
  readonly awake_from: Date | null
  readonly awake_to: Date | null
  readonly woken_by: WakeCause | null
  readonly woken_role: string | null
  readonly slept_by: SleepCause | null
}

/** The databases of an account, or the one that has this id or name. */
async function rowsOf(state: Queryable, account: string, wanted: string | null) {
  const { rows } = await state.query<DatabaseRow>(
    `select n.id, n.name, n.region, d.size_bytes::text, d.stored_bytes::text, d.wal_bytes::text, d.is_full,
       d.postgres_version, d.vector_version, d.extensions, d.wants_upgrade,
       n.actual,
       coalesce(n.reason, case n.held when 'balance' then 'the account cannot pay'
         when 'suspended' then 'the operator suspended the account' when 'deleting' then 'the account is being deleted' end) as reason, n.reached_revision < n.revision as is_pending, n.created_at, r.name as role, r.revision, b.nj_per_day::text,
       budget_used_nj(n.id)::text as used_nj,
       s.done_bytes::text as restored_bytes, s.total_bytes::text as restore_bytes,
       i.from_at as awake_from, i.to_at as awake_to, i.woken_by, i.role as woken_role, i.slept_by
     from resources n join databases d using (id) join database_roles r on r.database = n.id and r.label = 'owner'
       left join budgets b using (id)
       left join database_restores s on s.database = n.id and s.status in ('wanted', 'running', 'unpacked')
       left join lateral (select * from resource_intervals where resource = n.id
         order by id desc limit 1) i on true
     where n.account = $1 and n.kind = 'database' and n.desired <> 'deleted'
       and ($2::text is null or n.id = $2 or n.name = $2)
     order by n.id`,
    [account, wanted],
  )
  return rows
}

export const databasesOf = (state: Queryable, account: string): Promise<DatabaseRow[]> =>
  rowsOf(state, account, null)

/** By its id or its name. */
export const databaseNamed = async (
  state: Queryable,
  account: string,
  wanted: string,
): Promise<DatabaseRow | undefined> => (await rowsOf(state, account, wanted))[0]

/** Throws database_not_found. */
export async function findDatabase(
  state: Queryable,
  account: string,
  wanted: string,
): Promise<DatabaseRow> {
  const row = await databaseNamed(state, account, wanted)
  if (row !== undefined) return row
  throw fault('database_not_found', `Could not find the database: "${wanted.slice(0, 100)}"`)
}

/** Statuses that do not say by themselves that there is work. */
const IS_MADE: ReadonlySet<DatabaseReply['status']> = new Set(['deployed', 'suspended'])

export const replyOf = (
  row: DatabaseRow,
  { host, port }: Pick<GatewaySettings, 'host' | 'port'>,
): DatabaseReply => ({
  id: row.id,
  object: 'database',
  name: row.name,
  region: row.region,
  size_bytes: Number(row.size_bytes),
  stored_bytes: Number(row.stored_bytes),
  wal_bytes: Number(row.wal_bytes),
  full: row.is_full,
  energy_budget: row.nj_per_day === null ? null : printEnergyPerDay(nj(BigInt(row.nj_per_day))),
  energy_budget_used_j:
    row.nj_per_day === null ? null : Number(printJoules(nj(BigInt(row.used_nj)))),
  status: row.actual,
  restore:
    row.restored_bytes === null
      ? null
      : { done_bytes: Number(row.restored_bytes), total_bytes: numberOf(row.restore_bytes) },
  reason:
    row.reason ?? (row.is_pending && IS_MADE.has(row.actual) ? 'a change is under way' : null),
  postgres_version: row.postgres_version,
  vector_version: row.vector_version,
  extensions: row.extensions,
  upgrading: row.wants_upgrade,
  last_awake: lastAwakeOf(row),
  role: row.role,
  host,
  port,
  created_at: row.created_at.toISOString(),
})

function lastAwakeOf(row: DatabaseRow): AwakeInterval | null {
  const { awake_from: from, awake_to: to, woken_by, woken_role: role, slept_by } = row
  if (from === null || woken_by === null) return null
  return intervalOf({ from, to, woken_by, role, slept_by })
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text))
