// Versions of resources: which one is wanted, which one answers, and which failed. Products keep their settings.
import type { Queryable } from '#state/connect.ts'

export type VersionNumbers = {
  readonly wanted: number
  /** Null before the first one answers. */
  readonly live: number | null
  /** Why the wanted one does not start: it is not tried again. */
  readonly failure: string | null
}

/** Undefined where the resource has no version. */
export async function readVersions(
  state: Queryable,
  id: string,
): Promise<VersionNumbers | undefined> {
  const { rows } = await state.query<VersionNumbers>(
    `select n.version as wanted, n.live_version as live, v.failure from resources n
       join resource_versions v on v.resource = n.id and v.version = n.version where n.id = $1`,
    [id],
  )
  return rows[0]
}

/** SQL of the versions of the resource `n`, the newest first; `fields` are those of the product's table `v`. */
export const versionsColumn = (given: {
  readonly table: string
  readonly key: string
  readonly fields: string
}): string => `(select jsonb_agg(jsonb_build_object('version', o.version, 'failure', o.failure, 'created_at',
    to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ${given.fields}) order by o.version desc)
  from resource_versions o join ${given.table} v on v.${given.key} = o.resource and v.version = o.version
  where o.resource = n.id) as versions`
