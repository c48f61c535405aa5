// An incident as the operator and the public read it.
import type { SqlRow } from '#state/connect.ts'

export type PublicIncident = SqlRow & {
  readonly id: string
  readonly region: string
  readonly summary: string
  readonly started_at: string
  readonly ended_at: string | null
  readonly lost: string | null
  readonly unbilled: string | null
  /** The newest first. */
  readonly updates: readonly { readonly at: string; readonly words: string }[]
}

const utc = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Columns of `incidents i`: a PublicIncident. */
export const INCIDENT_COLUMNS = `
  i.id, i.region, i.summary, ${utc('i.started_at')} as started_at, ${utc('i.ended_at')} as ended_at, i.lost, i.unbilled,
  (select coalesce(json_agg(json_build_object('at', ${utc('u.at')}, 'words', u.words) order by u.id desc), '[]')
    from incident_updates u where u.incident = i.id) as updates`
