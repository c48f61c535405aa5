// Alarms: what the operator must see, stored until it is acknowledged.
import type { AlarmKind } from '#contract/node/alarms.ts'
import type { Queryable } from './connect.ts'

/**
 * An alarm with a key is raised once: until it is acknowledged, or for ever when it `lasts`, as a damaged file does.
 */
export type AlarmKey = { readonly key: string; readonly lasts?: true }

/** Stores an alarm for the operator. False when an alarm of that kind and key exists. */
export async function raiseAlarm(
  state: Queryable,
  kind: AlarmKind,
  detail: Readonly<Record<string, unknown>>,
  once?: AlarmKey,
): Promise<boolean> {
  const { rows } = await state.query<{ raised: boolean }>(
    'select raise_alarm($1, $2, $3, $4) as raised',
    [kind, JSON.stringify(detail), once?.key ?? null, once?.lasts === true],
  )
  return rows[0]?.raised === true
}
