// Databases of an account as the API shows them.
import type { DatabaseReply } from '#contract/databases/databases.ts'
import type { AwakeInterval, SleepCause, WakeCause } from '#contract/resources/intervals.ts'
import { intervalOf } from '#resources/intervals.ts'
import { sharedFields, shownResources, type ShownResource } from '#resources/shown-resources.ts'
import type { GatewaySettings } from './settings.ts'

export type DatabaseRow = ShownResource & {
  readonly size_bytes: string
  readonly stored_bytes: string
  readonly wal_bytes: string
  readonly is_full: boolean
  readonly postgres_version: string | null
  readonly vector_version: string | null
  readonly extensions: DatabaseReply['extensions']
  readonly wants_upgrade: boolean
  readonly actual: DatabaseReply['status'] | 'crash_loop'
  readonly role: string
  readonly revision: number
  /** Why the copy of its restore waits for its next try. */
  readonly restore_reason: string | null
  readonly restore_step: NonNullable<DatabaseReply['restore']>['step'] | null
  readonly restored_bytes: string | null
  readonly restore_bytes: string | null
  readonly awake_from: Date | null
  readonly awake_to: Date | null
  readonly woken_by: WakeCause | null
  readonly woken_role: string | null
  readonly slept_by: SleepCause | null
}

export const SHOWN_DATABASES = shownResources<DatabaseRow, GatewaySettings, DatabaseReply>({
  kind: 'database',
  notFound: 'database_not_found',
  columns: `d.size_bytes::text, d.stored_bytes::text, d.wal_bytes::text, d.is_full,
    d.postgres_version, d.vector_version, d.extensions, d.wants_upgrade, r.name as role, r.revision,
    case when s.is_recovered then 'checks' when s.status = 'unpacked' then 'log' when s.status <> '' then 'copy' end
      as restore_step, s.reason as restore_reason, s.done_bytes::text as restored_bytes, s.total_bytes::text as restore_bytes,
    i.from_at as awake_from, i.to_at as awake_to, i.woken_by, i.role as woken_role, i.slept_by`,
  joins: `join databases d using (id) join database_roles r on r.database = n.id and r.label = 'owner'
    left join database_restores s on s.database = n.id and s.status in ('wanted', 'running', 'unpacked')
    left join lateral (select * from resource_intervals where resource = n.id
      order by id desc limit 1) i on true`,
  replyOf: (row, { host, port }) => ({
    ...sharedFields({ ...row, reason: row.reason ?? row.restore_reason }),
    object: 'database',
    size_bytes: Number(row.size_bytes),
    stored_bytes: Number(row.stored_bytes),
    wal_bytes: Number(row.wal_bytes),
    full: row.is_full,
    status: databaseStatusOf(row),
    restore:
      row.restore_step === null
        ? null
        : {
            step: row.restore_step,
            done_bytes: Number(row.restored_bytes),
            total_bytes: numberOf(row.restore_bytes),
          },
    postgres_version: row.postgres_version,
    vector_version: row.vector_version,
    extensions: row.extensions,
    upgrading: row.wants_upgrade,
    last_awake: lastAwakeOf(row),
    role: row.role,
    host,
    port,
  }),
})

/** A server that starts no more has failed, for its account, until its files are being restored. */
export function databaseStatusOf({
  actual,
  restore_step: step,
}: Pick<DatabaseRow, 'actual'> &
  Partial<Pick<DatabaseRow, 'restore_step'>>): DatabaseReply['status'] {
  if (actual !== 'crash_loop') return actual
  return step == null ? 'failed' : 'deploying'
}

function lastAwakeOf(row: DatabaseRow): AwakeInterval | null {
  const { awake_from: from, awake_to: to, woken_by, woken_role: role, slept_by } = row
  if (from === null || woken_by === null) return null
  return intervalOf({ from, to, woken_by, role, slept_by })
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text))
