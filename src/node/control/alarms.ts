// The operator's operations on alarms: listed until they are acknowledged, and kept for good.
import { findingOf } from '#contract/node/alarms.ts'
import { fault } from '#contract/errors.ts'
import type { NODE_CONTROL } from '#contract/node/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { recordNodeAct } from '#identity/operator-account.ts'
import type { Queryable, State } from '#state/connect.ts'

const SHOWN_MAX = 1000

type Alarm = { id: string; kind: string; detail: Record<string, unknown>; at: Date }

export const alarmHandlers = (state: State) =>
  ({
    'alarm.list': async ({ all }) => {
      const { rows } = await state.query<Alarm & { acknowledged_at: Date | null }>(
        `select id, kind, detail, at, acknowledged_at from alarms where acknowledged_at is null or $1
         order by id desc limit $2`,
        [all, SHOWN_MAX + 1],
      )
      const alarms = rows
        .slice(0, SHOWN_MAX)
        .map((row) => ({ ...row, finding: findingOf(row.kind) }))
      return { alarms, more: rows.length > SHOWN_MAX }
    },
    'alarm.acknowledge': ({ alarm }) =>
      state.transaction(async (transaction) => {
        const details = await acknowledgeAlarm(transaction, alarm)
        await recordNodeAct(transaction, { action: 'alarm.acknowledge', target: alarm, details })
        return details
      }),
  }) satisfies Partial<ControlHandlers<typeof NODE_CONTROL>>

/** An alarm and the earlier ones of its kind; a later one is not acknowledged with them. Throws alarm_not_found. */
export async function acknowledgeAlarm(
  state: Queryable,
  id: string,
): Promise<ControlAnswer<'alarm.acknowledge'>> {
  // 18 digits are within a bigint.
  const { rows } = await state.query<{ kind: string }>('select kind from alarms where id = $1', [
    /^\d{1,18}$/.test(id) ? id : null,
  ])
  const kind = rows[0]?.kind
  if (kind === undefined)
    throw fault('alarm_not_found', `Could not acknowledge: no alarm "${id.slice(0, 100)}"`)
  const { rowCount } = await state.query(
    `update alarms set acknowledged_at = ledger_now()
     where acknowledged_at is null and kind = $1 and id <= $2`,
    [kind, id],
  )
  return { kind, acknowledged: rowCount }
}
