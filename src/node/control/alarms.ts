// The ledger's findings for the operator: shown until they are acknowledged, and kept for good.
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'
import type { ControlRoute } from './control.ts'

const SHOWN_MAX = 1000

export const alarmRoutes = (state: State): readonly ControlRoute[] => [
  {
    method: 'GET',
    path: /^\/alarms$/,
    handle: async ({ query }) => {
      const { rows } = await state.query(
        `select id, kind, detail, at, acknowledged_at from alarms where acknowledged_at is null or $1
         order by id desc limit $2`,
        [query.get('all') === 'true', SHOWN_MAX + 1],
      )
      return { alarms: rows.slice(0, SHOWN_MAX), more: rows.length > SHOWN_MAX }
    },
  },
  {
    method: 'POST',
    path: /^\/alarms\/([^/]+)\/acknowledge$/,
    handle: ({ parameters: [id = ''] }) => acknowledge(state, id),
  },
]

/** Up to the one that was seen: one of its kind that came since is another. */
async function acknowledge(state: State, id: string): Promise<object> {
  // 18 digits are within a bigint.
  const { rows } = await state.query<{ kind: string }>('select kind from alarms where id = $1', [
    /^\d{1,18}$/.test(id) ? id : null,
  ])
  const kind = rows[0]?.kind
  if (kind === undefined) throw fault('not_found', `Could not acknowledge: no alarm "${id}"`)
  const { rowCount } = await state.query(
    `update alarms set acknowledged_at = ledger_now()
     where acknowledged_at is null and kind = $1 and id <= $2`,
    [kind, id],
  )
  return { kind, acknowledged: rowCount }
}
