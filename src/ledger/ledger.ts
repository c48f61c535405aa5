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

export function createLedger(state: Queryable): Ledger {
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
      const { rows } = await state.query<{ result: RawResult }>(
        'select tick($1, $2, $3, $4, $5, $6, $7, $8, $9) as result',
        encode(input),
      )
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
function encode(input: TickInput): (string | string[] | Buffer)[] {
  const { records, debits } = input
  let end = 0
  return [
    JSON.stringify({
      session: input.session,
      number: Number(input.number),
      epoch: Number(input.epoch),
      meter: input.meter,
    }),
    array(records.map((record) => record.seq)),
    array(records.map((record) => (record.kind === 'charge' ? 1 : 2))),
    array(records.map((record) => (end += record.bytes.length))),
    Buffer.concat(records.map((record) => record.bytes)),
    array(debits.map((debit) => debit.seq)),
    debits.map((debit) => debit.wallet),
    array(debits.map((debit) => debit.amount)),
    JSON.stringify(
      input.wants.map((want) => ({ wallet: want.wallet, amount: want.amount.toString() })),
    ),
  ]
}

/** An array of numbers as PostgreSQL writes it. */
const array = (numbers: readonly (number | bigint)[]): string => `{${numbers.join(',')}}`

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
