// The ledger on PostgreSQL: calls of the functions in tick.sql and sessions.sql.
import { raiseAlarm } from '#state/alarms.ts'
import { present } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { findBundled } from './bundles/bundled-charge.ts'
import type { KnownSession, Ledger, TickInput, TickResult } from './tick.ts'

type RawResult = {
  grants: { want: string; wallet: string; amount: string; dry: boolean; elsewhere: boolean }[]
  recalls: string[]
  last_seq: number
  epoch: number
  changes: { token: string | null; account: string }[]
  price: { id: string; pusd_per_j: string }
  tariff: unknown
  halted: boolean
}
type SessionRow = {
  id: string
  open: boolean
  last_seq: string
  last_tick: string
  newest_change: string
}

const SESSION = `select id, closed_at is null as open, last_seq, last_tick,
  (select coalesce(max(epoch), 0) from credential_changes) as newest_change from sessions`

// Types that the client for frequent queries has (wire/values.ts).
const TICK = `select tick($1, $2::bigint[], $3::int[]::smallint[], $4::int[], $5, $6::bigint[], $7::text[],
  $8::text[]::numeric[], $9) as result`

/** `ticks` has the ticks of a process that ticks often: by default they go with all else. */
export function createLedger(state: Queryable, ticks: Queryable = state): Ledger {
  return {
    async openSession(process, { lifeMin = 1, draws } = {}) {
      const { rows } = await state.query<{ made: { session: string; epoch: number } }>(
        'select open_session($1, $2, $3) as made',
        [process, lifeMin, draws ?? null],
      )
      const { made } = present(rows[0], 'open_session gave no row')
      return { session: made.session, epoch: BigInt(made.epoch) }
    },
    async findSession(session) {
      const { rows } = await state.query<SessionRow>(`${SESSION} where id = $1`, [session])
      return known(rows[0])
    },
    async openSessionOf(process) {
      const { rows } = await state.query<SessionRow>(
        `${SESSION} where process = $1 and closed_at is null`,
        [process],
      )
      return known(rows[0])
    },
    async closeSession(session) {
      await state.query('select close_session($1)', [session])
    },
    async tick(input) {
      const { rows } = await ticks.query<{ result: RawResult }>(TICK, encode(input))
      return decode(present(rows[0], 'tick gave no row').result)
    },
    async posted(ids) {
      if (ids.length === 0) return new Set()
      const { rows } = await state.query<{ id: string }>(
        'select id from charges where id = any ($1)',
        [ids],
      )
      const found = new Set(rows.map(({ id }) => id))
      for (const id of ids)
        if (!found.has(id) && (await findBundled(state, id)) !== undefined) found.add(id)
      return found
    },
    async lose(session, first, last) {
      const numbers = [session, first.toString(), last.toString()]
      await state.query('select lose_records($1, $2, $3)', numbers)
    },
    async alarm(kind, detail) {
      await raiseAlarm(state, kind, detail)
    },
  }
}

const known = (row: SessionRow | undefined): KnownSession | undefined =>
  row && {
    session: row.id,
    open: row.open,
    lastSeq: BigInt(row.last_seq),
    lastTick: BigInt(row.last_tick),
    newestChange: BigInt(row.newest_change),
  }

// The records' own bytes as they are: as JSON texts within JSON they were the most of a tick's cost on
// both sides.
function encode(input: TickInput): unknown[] {
  const { records, debits } = input
  let end = 0
  return [
    JSON.stringify({
      session: input.session,
      number: Number(input.number),
      epoch: Number(input.epoch),
      meter: input.meter,
    }),
    records.map((record) => record.seq),
    records.map((record) => (record.kind === 'charge' ? 1 : 2)),
    records.map((record) => (end += record.bytes.length)),
    Buffer.concat(records.map((record) => record.bytes)),
    debits.map((debit) => debit.seq),
    debits.map((debit) => debit.wallet),
    debits.map((debit) => debit.amount.toString()),
    JSON.stringify(
      input.wants.map((want) => ({ wallet: want.wallet, amount: want.amount.toString() })),
    ),
  ]
}

const decode = (raw: RawResult): TickResult => ({
  grants: raw.grants.map((grant) => ({ ...grant, amount: BigInt(grant.amount) })),
  recalls: raw.recalls,
  lastSeq: BigInt(raw.last_seq),
  epoch: BigInt(raw.epoch),
  changes: raw.changes,
  price: { id: raw.price.id, pusdPerJ: BigInt(raw.price.pusd_per_j) },
  tariff: raw.tariff,
  halted: raw.halted,
})
