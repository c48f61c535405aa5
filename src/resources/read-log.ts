// The log of a resource as the API shows it.
import type { Queryable } from '#state/connect.ts'

type LineRow = {
  readonly seq: string
  readonly at: Date
  readonly source: string | null
  readonly level: string
  readonly text: string
}

/** The newest lines after a cursor, the oldest of them first. `cursor` is that of the newest. */
export async function readResourceLog(
  state: Queryable,
  id: string,
  { after, lines }: { readonly after: string; readonly lines: number },
) {
  const { rows } = await state.query<LineRow>(
    `select seq::text, at, source, level, text from resource_logs
     where resource = $1 and seq > $2 order by resource_logs.seq desc limit $3`,
    [id, after, lines],
  )
  const data = rows.toReversed().map(({ at, source, level, text }) => ({
    at: at.toISOString(),
    source,
    level,
    text,
  }))
  return { data, cursor: rows[0]?.seq ?? after }
}
