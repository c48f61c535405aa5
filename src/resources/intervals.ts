// When resources were awake: a row from the start of a resource's process to its end, with the cause of each.
import type { AwakeInterval, SleepCause, WakeCause } from '#contract/resources/intervals.ts'
import type { Queryable } from '#state/connect.ts'

/** The cause, and the role whose connection it was. */
export type Waker = { readonly cause: WakeCause; readonly role?: string | undefined }

/** Older intervals of a resource are forgotten when it wakes. */
const KEPT_DAYS = 31
/** A client that comes each time the resource has just fallen asleep makes no more rows than these. */
export const INTERVALS_MAX = 10_000

/** Returns the number of the interval. */
export async function beginInterval(
  state: Queryable,
  resource: string,
  { cause, role }: Waker,
): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    'select begin_interval($1, $2, $3, $4, $5)::text as id',
    [resource, cause, role ?? null, KEPT_DAYS, INTERVALS_MAX],
  )
  return rows[0]?.id ?? ''
}

export async function endInterval(
  state: Queryable,
  interval: string,
  cause: SleepCause,
): Promise<void> {
  await state.query(
    'update resource_intervals set to_at = ledger_now(), slept_by = $2 where id = $1 and to_at is null',
    [interval, cause],
  )
}

/** Ends those that an earlier life of the node left open; `leftToMs` has the ends of what that life left uncharged. */
export async function endOpenIntervals(
  {
    state,
    leftToMs,
  }: { readonly state: Queryable; readonly leftToMs: ReadonlyMap<string, number> },
  kind: string,
): Promise<void> {
  const left = JSON.stringify(Object.fromEntries(leftToMs))
  await state.query('select end_intervals($1, $2, $3)', [kind, 'stop' satisfies SleepCause, left])
}

export type IntervalRow = {
  readonly id: string
  readonly from: Date
  readonly to: Date | null
  readonly woken_by: WakeCause
  readonly role: string | null
  readonly slept_by: SleepCause | null
}

/** An interval as the API shows it. */
export const intervalOf = ({ from, to, ...causes }: Omit<IntervalRow, 'id'>): AwakeInterval => ({
  from: from.toISOString(),
  to: to?.toISOString() ?? null,
  woken_by: causes.woken_by,
  role: causes.role,
  slept_by: causes.slept_by,
})

/** The intervals of a resource that overlap [from, to), the newest first, below the number `before`. */
export async function readIntervals(
  state: Queryable,
  resource: string,
  {
    from,
    to,
    before,
    limit,
  }: {
    readonly from: Date
    readonly to: Date
    readonly before: string | undefined
    readonly limit: number
  },
): Promise<readonly IntervalRow[]> {
  const { rows } = await state.query<IntervalRow>(
    `select id::text, from_at as "from", to_at as "to", woken_by, role, slept_by from resource_intervals i
     where resource = $1 and from_at < $3 and coalesce(to_at > $2, true) and ($4::bigint is null or id < $4)
     order by i.id desc limit $5`,
    [resource, from, to, before ?? null, limit],
  )
  return rows
}
