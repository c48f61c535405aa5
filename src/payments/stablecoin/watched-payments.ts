// Stablecoin payments whose transfer is not final, with what was last seen of each.
import type { Queryable } from '#state/connect.ts'
import type { Sought } from './inspect-chain.ts'

export type Watched = Sought & {
  readonly id: string
  readonly state: string
  readonly network: string
  readonly units: bigint
  readonly confirmationsNeeded: number
  readonly validBefore: bigint | null
  /** Of an authorisation whose settlement has no answer yet. */
  readonly payload: unknown
  readonly settledAs: string | null
  readonly ageS: number
  readonly index: number | null
  /** Null: in no block. */
  readonly blockHash: string | null
}

type Row = {
  id: string
  state: string
  network: string
  sender: string
  units: string
  confirmations_needed: number
  nonce: string | null
  valid_before: string | null
  payload: unknown
  settled_as: string | null
  age_s: number
  from_block: string
  transaction: string | null
  log_index: number | null
  block_number: string | null
  block_hash: string | null
}

const COLUMNS = `p.id, p.state, s.network, s.sender, s.units::text, s.confirmations_needed, s.nonce,
  s.valid_before::text, s.payload, s.settled_as, s.from_block::text, s.transaction, s.log_index,
  s.block_number::text, s.block_hash, extract(epoch from ledger_now() - s.created_at)::float as age_s`
/** A payment that is balance already is looked at less often. */
const SETTLED_EVERY_S = 60

/** A payment that is not final; undefined where it is. */
export async function watchedPayment(state: Queryable, id: string): Promise<Watched | undefined> {
  const { rows } = await state.query<Row>(
    `select ${COLUMNS} from stablecoin_payments s join payments p on p.id = s.payment
     where s.payment = $1 and s.ended_at is null`,
    [id],
  )
  return rows.map(watched)[0]
}

/**
 * Those that were looked at longest ago, marked as looked at. Accounts take turns, so one with many payments delays no
 * other; failed payments, whose transfer is not expected, come after all others.
 */
export async function duePayments(
  state: Queryable,
  networks: readonly string[],
  batch: number,
): Promise<Watched[]> {
  const { rows } = await state.query<Row>(
    `update stablecoin_payments s set looked_at = ledger_now() from payments p
     where p.id = s.payment and s.payment in (
       select d.payment from stablecoin_payments d join payments o on o.id = d.payment
       where d.ended_at is null and d.network = any ($1)
         and (o.state <> 'captured' or d.looked_at < ledger_now() - interval '${SETTLED_EVERY_S} seconds')
       order by o.state = 'failed',
         row_number() over (partition by o.account, o.state = 'failed' order by d.looked_at), d.looked_at
       limit $2)
     returning ${COLUMNS}`,
    [networks, batch],
  )
  return rows.map(watched)
}

const watched = (row: Row): Watched => ({
  id: row.id,
  state: row.state,
  network: row.network,
  sender: row.sender,
  units: BigInt(row.units),
  confirmationsNeeded: row.confirmations_needed,
  nonce: row.nonce,
  validBefore: row.valid_before === null ? null : BigInt(row.valid_before),
  payload: row.payload,
  settledAs: row.settled_as,
  ageS: row.age_s,
  fromBlock: BigInt(row.from_block),
  transaction: row.transaction,
  index: row.log_index,
  seenInBlock: BigInt(row.block_number ?? row.from_block),
  blockHash: row.block_hash,
})
