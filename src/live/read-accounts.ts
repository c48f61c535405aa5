// Reads accounts for their streams: their numbers, states and new charges, of one moment. One statement a second for
// all of them, and two more when one of them was charged.
import type { ChargePart } from '#contract/ledger/charge.ts'
import type { LiveStates } from '#http/gateway-part.ts'
import { LIVE_CHARGES_MAX } from '#contract/live/live.ts'
import { sumUsage, type UsageRow } from '#ledger/usage.ts'
import type { Queryable, State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'

/** The sums of a day. */
export type DaySums = {
  readonly requests: number
  readonly energyNj: bigint
  readonly carbonPg: bigint
  readonly chargePusd: bigint
  /** The part of the energy that a sensor read. */
  readonly measuredNj: bigint
  /** The energy times the band of each part; undefined where the day has charges from before bands were kept. */
  readonly bandWeight: bigint | undefined
}

export const NO_SUMS: DaySums = {
  requests: 0,
  energyNj: 0n,
  carbonPg: 0n,
  chargePusd: 0n,
  measuredNj: 0n,
  bandWeight: 0n,
}

/** The counters of an account: whatever it is charged or told moves one of them. */
export type LiveCounts = {
  readonly account: string
  /** The number of its newest charge. */
  readonly charges: string
  /** The number of its newest event. */
  readonly events: string
}

/** An account as it is now. */
export type ReadAccount = LiveCounts & {
  readonly isDeleting: boolean
  /** States by name, as JSON; null for none. */
  readonly states: Readonly<Record<string, string | null>>
}

export type LiveChargeRow = {
  readonly account: string
  readonly number: string
  readonly id: string
  readonly at: Date
  readonly operation: string
  readonly model: string | null
  readonly status: number
  readonly energy: string
  readonly charge: string
  readonly parts: readonly ChargePart[]
}

/** New charges of an account by operation and by the day of UTC on which they end. */
export type NewCharges = {
  readonly account: string
  readonly operation: string
  readonly day: string
  readonly sums: DaySums
  /** Their energy without what was reported of them while they ran. */
  readonly unreportedNj: bigint
  /** Receipts of those of which something was reported. */
  readonly reported: readonly string[]
}

/** Numbers of an account's charges: after one, up to another. */
export type ChargeSpan = {
  readonly account: string
  readonly after: string
  readonly until: string
}

export interface ReadAccounts {
  /** Costs a small part of `now`. */
  counts(accounts: readonly string[]): Promise<readonly LiveCounts[]>
  now(accounts: readonly string[]): Promise<{
    readonly accounts: readonly ReadAccount[]
    /** The bytes of the meter's last window. */
    readonly window: Uint8Array | undefined
  }>
  /** `reported` is the energy that was reported of running requests, by receipt. */
  newCharges(
    spans: readonly ChargeSpan[],
    reported: ReadonlyMap<string, bigint>,
  ): Promise<readonly NewCharges[]>
  /** The newest of each account, the newest first. */
  newest(accounts: readonly string[]): Promise<readonly LiveChargeRow[]>
  /** The sums of a day, and the number of the newest charge that they count. */
  day(account: string, day: string): Promise<{ readonly today: DaySums; readonly charges: string }>
}

const COUNTS = 'a.id as account, a.charge_count::text as charges, a.event_count::text as events'

// The offset keeps the charges of a span on their index, however many spans the planner expects.
const NEW_CHARGES = `
  with new as (
    select c.*, t.id as reported, t.nj, to_char(c.to_at at time zone 'UTC', 'YYYY-MM-DD') as day
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as s (account, after, until)
    cross join lateral (select * from charges
      where account = s.account and account_seq > s.after and account_seq <= s.until offset 0) c
    left join unnest($4::text[], $5::bigint[]) as t (id, nj) on t.id = c.id)
  select c.account, c.operation, c.day, count(*) as requests, sum(c.energy_nj)::text as energy,
    sum(c.carbon_pg)::text as carbon, sum(c.charge_pusd)::text as charge,
    sum(measured_nj(c.bytes, c.energy_nj))::text as measured, sum(band_weight(c.bytes))::text as weight,
    sum(greatest(0, c.energy_nj - coalesce(c.nj, 0)))::text as unreported,
    coalesce(array_agg(c.reported) filter (where c.reported is not null), '{}') as reported
  from new c group by 1, 2, 3`

const NEWEST = `
  select c.* from unnest($1::text[]) as s (account) cross join lateral (
    select account, account_seq::text as number, id, to_at as at, operation, model, status, energy_nj::text as energy,
      charge_pusd::text as charge, convert_from(bytes, 'UTF8')::json -> 'parts' as parts
    from charges where account = s.account order by account_seq desc limit ${LIVE_CHARGES_MAX}) c`

type NowRow = {
  account: string
  charges: string
  events: string
  is_deleting: boolean
  bytes: Buffer | null
} & Record<string, unknown>

type SumTexts = Pick<UsageRow, 'requests' | 'energy' | 'carbon' | 'charge' | 'measured' | 'weight'>

type SumRow = SumTexts & {
  account: string
  operation: string
  day: string
  unreported: string
  reported: string[]
}

export function createReadAccounts(deps: {
  readonly state: Pick<State, 'transaction'>
  /** For queries that run again and again: the plan of `now` costs more than its rows. */
  readonly frequent: Queryable
  readonly meter: string
  readonly states: LiveStates
}): ReadAccounts {
  const { state, frequent, meter, states } = deps
  const names = Object.keys(states)
  const columns = names.map((name) => `(${states[name]})::text as "state ${name}"`)
  const now = `
    select ${COUNTS},
      exists (select from account_deletions d where d.account = a.id) as is_deleting, w.bytes,
      ${columns.join(', ')}
    from accounts a
    left join lateral (select bytes from windows where meter = $2 order by k desc limit 1) w on a.id = $3
    where a.id = any ($1)`
  return {
    async counts(accounts) {
      const sql = `select ${COUNTS} from accounts a where a.id = any ($1)`
      return (await frequent.query<LiveCounts>(sql, [accounts])).rows
    },
    async now(accounts) {
      const { rows } = await frequent.query<NowRow>(now, [accounts, meter, accounts[0]])
      return {
        accounts: rows.map((row) => ({
          account: row.account,
          charges: row.charges,
          events: row.events,
          isDeleting: row.is_deleting,
          states: statesIn(row, names),
        })),
        window: rows.find(({ bytes }) => bytes !== null)?.bytes ?? undefined,
      }
    },
    async newCharges(spans, reported) {
      const { rows } = await frequent.query<SumRow>(NEW_CHARGES, [
        spans.map(({ account }) => account),
        spans.map(({ after }) => after),
        spans.map(({ until }) => until),
        [...reported.keys()],
        [...reported.values()].map(String),
      ])
      return rows.map((row) => ({
        account: row.account,
        operation: row.operation,
        day: row.day,
        sums: sumsOf(row),
        unreportedNj: BigInt(row.unreported),
        reported: row.reported,
      }))
    },
    async newest(accounts) {
      return (await frequent.query<LiveChargeRow>(NEWEST, [accounts])).rows
    },
    day: (account, day) => readDay(state, account, day),
  }
}

async function readDay(
  state: Pick<State, 'transaction'>,
  account: string,
  day: string,
): ReturnType<ReadAccounts['day']> {
  const from = new Date(`${day}T00:00:00Z`)
  const to = new Date(from.getTime() + 86_400_000)
  return await inSnapshot(state, async (snapshot) => {
    const page = { offset: 0, limit: 1, bands: true }
    const [sums] = await sumUsage(snapshot, { account, from, to }, `''`, page)
    const { rows } = await snapshot.query<{ charges: string }>(
      'select charge_count::text as charges from accounts where id = $1',
      [account],
    )
    return { today: sums === undefined ? NO_SUMS : sumsOf(sums), charges: rows[0]?.charges ?? '0' }
  })
}

const statesIn = (row: NowRow, names: readonly string[]): ReadAccount['states'] =>
  Object.fromEntries(names.map((name) => [name, row[`state ${name}`] as string | null]))

const sumsOf = (row: SumTexts): DaySums => ({
  requests: Number(row.requests),
  energyNj: BigInt(row.energy),
  carbonPg: BigInt(row.carbon),
  chargePusd: BigInt(row.charge),
  measuredNj: BigInt(row.measured),
  bandWeight: row.weight === null ? undefined : BigInt(row.weight),
})
