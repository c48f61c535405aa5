// Times of functions: each minute the schedules are looked at, and a time that has come becomes a run. Of the times that
// passed while nobody looked, the last one is run late.
import { parseCron, lastTimeOf } from '#contract/values/cron.ts'
import type { Queryable } from '#state/connect.ts'

type DueSchedule = {
  readonly id: string
  readonly schedule: string
  readonly looked_to: Date | null
  readonly now_minute: Date
}

/** Older times are not made up for. */
const LATE_MINUTES_MAX = 1440

export async function lookAtSchedules(state: Queryable): Promise<void> {
  const { rows } = await state.query<DueSchedule>('select * from schedules_due()')
  for (const { id, schedule, looked_to: from, now_minute: to } of rows) {
    const cron = parseCron(schedule)
    const span = { afterMs: (from ?? to).getTime(), toMs: to.getTime(), most: LATE_MINUTES_MAX }
    const dueMs = cron && lastTimeOf(cron, span)
    const due = dueMs === undefined ? null : new Date(dueMs)
    await state.query('select schedule_function($1, $2, $3, $4)', [id, from, to, due])
  }
}
