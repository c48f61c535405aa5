// Settings of the operator's PostgreSQL that the service relies on. Our own cluster has them (postgres/settings.ts).
import { raiseAlarm } from '#state/alarms.ts'
import type { Queryable } from '#state/connect.ts'

type UnsafeSetting = { readonly setting: string; readonly value: string; readonly wanted: string }

/** The values with which a commit is durable, transactions are as we wrote them, and damage of a page is found. */
const SAFE: Readonly<Record<string, readonly string[]>> = {
  fsync: ['on'],
  full_page_writes: ['on'],
  synchronous_commit: ['on', 'remote_apply', 'remote_write', 'local'],
  default_transaction_isolation: ['read committed'],
  data_checksums: ['on'],
  zero_damaged_pages: ['off'],
}

/** The settings of a server with another value than a safe one. */
export async function unsafeSettings(state: Queryable): Promise<UnsafeSetting[]> {
  const { rows } = await state.query<{ setting: string; value: string }>(
    'select name as setting, current_setting(name) as value from unnest($1::text[]) name',
    [Object.keys(SAFE)],
  )
  return rows.flatMap(({ setting, value }) => {
    const safe = SAFE[setting] ?? []
    return safe.includes(value) ? [] : [{ setting, value, wanted: safe[0] ?? '' }]
  })
}

/** Raises `state_unsafe` for each setting that is not safe; once, until the operator acknowledges it. */
export async function alarmUnsafeSettings(state: Queryable): Promise<void> {
  for (const unsafe of await unsafeSettings(state))
    await raiseAlarm(state, 'state_unsafe', unsafe, { key: unsafe.setting })
}
