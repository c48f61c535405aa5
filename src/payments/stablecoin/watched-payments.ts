// Stablecoin payments whose transfer is not final, with the last sight of each.
import { pusd, type Pusd } from '#base/units.ts'
import type { Queryable } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import type { SoughtTransfer } from './inspect-chain.ts'

export type WatchedPayment = SoughtTransfer & {
  readonly id: string
  readonly state: string
  readonly network: string
  /** As they were when the payment began: the setting may name others since. */
  readonly token: string
  readonly receiver: string
  readonly units: bigint
  /** The money of `units`. */
  readonly amount: Pusd
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
  token: string
  receiver: string
  sender: string
  units: string
  amount: string
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

const COLUMNS = `p.id, p.state, s.network, s.token, s.receiver, s.sender, s.units::text,
  p.amount_pusd::text as amount, s.confirmations_needed, s.nonce, s.valid_before::text, s.payload, s.settled_as, s.from_block::text, s.transaction, s.log_index,
  s.block_number::text, s.block_hash, extract(epoch from ledger_now() - s.created_at)::float as age_s`
/** A payment that is balance already is looked at less often. */
const SETTLED_EVERY_S = 60
/** Payments in an alarm. */
const NAMED_MAX = 20

/** A payment that is not final; undefined where it is. */
export async function watchedPayment(
  state: Queryable,
  id: string,
): Promise<WatchedPayment | undefined> {
  const { rows } = await state.query<Row>(
    `select ${COLUMNS} from stablecoin_payments s join payments p on p.id = s.payment
     where s.payment = $1 and s.ended_at is null`,
    [id],
  )
  return rows.map(watched)[0]
}

/**
 * Due payments of a network, the least recently inspected first. Accounts take turns, so one with many
 * payments delays no other. Of five turns one is a failed payment's, whose transfer is not expected but may come.
 */
export async function duePayments(
  state: Queryable,
  network: string,
  batch: number,
): Promise<WatchedPayment[]> {
  const { rows } = await state.query<Row>(
    `select ${COLUMNS} from (
       select payment, is_failed, row_number() over (partition by is_failed order by turn, looked_at) as place from (
         select d.payment, d.looked_at, o.state = 'failed' as is_failed,
           row_number() over (partition by o.account, o.state = 'failed' order by d.looked_at) as turn
         from stablecoin_payments d join payments o on o.id = d.payment
         where d.ended_at is null and d.network = $1
           and (o.state <> 'captured' or d.looked_at < ledger_now() - interval '${SETTLED_EVERY_S} seconds')) due) placed
     join stablecoin_payments s on s.payment = placed.payment join payments p on p.id = s.payment
     order by placed.place * case when placed.is_failed then 4 else 1 end, placed.is_failed limit $2`,
    [network, batch],
  )
  return rows.map(watched)
}

/** Written before a payment is checked, so that a check that takes all of the time comes last in the next run. */
export const noteCheck = async (state: Queryable, id: string): Promise<void> =>
  void (await state.query(
    'update stablecoin_payments set looked_at = ledger_now() where payment = $1',
    [id],
  ))

/** An alarm for each network that the setting no longer has and that has payments which are not final. */
export async function tellUnwatched(
  state: Queryable,
  chains: readonly Pick<TokenChain, 'network'>[],
): Promise<void> {
  await state.query(
    `select raise_alarm('stablecoin_unwatched', jsonb_build_object('network', network, 'count', count(*),
       'payments', (array_agg(payment order by created_at))[1:${NAMED_MAX}]), network)
     from stablecoin_payments where ended_at is null and network <> all ($1) group by network`,
    [chains.map(({ network }) => network)],
  )
}

const watched = (row: Row): WatchedPayment => ({
  id: row.id,
  state: row.state,
  network: row.network,
  token: row.token,
  receiver: row.receiver,
  sender: row.sender,
  units: BigInt(row.units),
  amount: pusd(BigInt(row.amount)),
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
