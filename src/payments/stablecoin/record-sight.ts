// The consequences of the state of a payment on its chain. Money is balance after the confirmations that the payment needs; where its
// block leaves the chain before that is final, the money is taken back until a block has the transfer again.
// Every step may be repeated: facts have ids, and the row is written after the fact. The gateway and the watch may look at
// once: a row that is not as it was read any more is left to the next check.
import type { PaymentFact } from '#payments/adapter.ts'
import { applyFacts } from '#payments/start-payment.ts'
import type { Queryable } from '#state/connect.ts'
import { processorOf, type TokenChain } from './chains.ts'
import type { FoundTransfer, Sight } from './inspect-chain.ts'
import type { WatchedPayment } from './watched-payments.ts'

/** Time without a clear answer of the nodes that raises an alarm. */
const UNSURE_S = 600
/** Time after which a claimed transaction that is in no block will not come. */
const GONE_S = 86_400

type ObservedPayment = { readonly chain: TokenChain; readonly watched: WatchedPayment }

export async function recordSight(
  state: Queryable,
  of: ObservedPayment,
  sight: Sight,
): Promise<void> {
  for (const node of sight.wrongNodes)
    await alarm(state, 'stablecoin_node_wrong', { node, network: of.chain.network }, node)
  switch (sight.kind) {
    case 'unsure':
      return await recordUnsure(state, of, sight.reason)
    case 'absent':
      return await recordAbsent(state, of, sight.finalAtS)
    case 'seen':
      return await recordSeen(state, of, sight)
  }
}

/** The row has the block that was read, and its payment is in one of the states. */
const isAsRead = (blockHash: string, states: string) =>
  `block_hash is not distinct from ${blockHash}
     and (select state from payments where id = payment) = any (${states})`

async function recordUnsure(
  state: Queryable,
  { watched: { id, network } }: ObservedPayment,
  reason: string,
): Promise<void> {
  const { rows } = await state.query<{ late: boolean }>(
    `update stablecoin_payments set unsure_since = coalesce(unsure_since, ledger_now()) where payment = $1
     returning unsure_since < ledger_now() - interval '${UNSURE_S} seconds' as late`,
    [id],
  )
  if (rows[0]?.late === true)
    await alarm(state, 'stablecoin_unsure', { payment: id, network, reason }, id)
}

async function recordSeen(
  state: Queryable,
  { chain, watched }: ObservedPayment,
  { found, confirmations, isFinal }: Sight & { readonly kind: 'seen' },
): Promise<void> {
  const isConfirmed = confirmations >= watched.confirmationsNeeded
  if (isConfirmed && watched.state === 'disputed' && watched.blockHash !== null)
    await tell(state, chain, takenBack(chain, watched, 'dispute_won'))
  if (isConfirmed && ['created', 'failed'].includes(watched.state)) {
    const outcome = await tell(state, chain, captured(chain, watched, found))
    if (outcome === 'refused') await failPayment(state, watched.id, 'amount_differs')
  }
  // The block that the money was taken back for stays the name of that until the money is back.
  if (watched.state === 'disputed' && !isConfirmed) return
  const isEnded = isFinal && isConfirmed
  await state.query(
    `update stablecoin_payments set transaction = $2, log_index = $3, block_number = $4, block_hash = $5,
       confirmations = $6, unsure_since = null, payload = null,
       ended_at = case when $7 then ledger_now() end
     where payment = $1 and ${isAsRead('$8', '$9')}`,
    [
      watched.id,
      found.transaction,
      found.index,
      found.block.toString(),
      found.blockHash,
      confirmations,
      isEnded,
      watched.blockHash,
      [watched.state, 'captured', 'failed'],
    ],
  )
}

async function recordAbsent(
  state: Queryable,
  { chain, watched }: ObservedPayment,
  finalAtS: bigint,
): Promise<void> {
  const { id, validBefore, ageS, settledAs, network } = watched
  if (watched.state === 'captured' && watched.blockHash !== null) {
    await tell(state, chain, takenBack(chain, watched, 'disputed'))
    return
  }
  const isOver = validBefore === null ? ageS > GONE_S : finalAtS >= validBefore
  if (isOver && settledAs !== null)
    await alarm(state, 'stablecoin_not_settled', { payment: id, network, told: settledAs }, id)
  if (isOver) await failPayment(state, id, 'not_on_chain')
  // A payment that was balance keeps the block that the money was taken back for.
  await state.query(
    `update stablecoin_payments set unsure_since = null, confirmations = 0,
       block_number = case when $2 then block_number end, block_hash = case when $2 then block_hash end,
       ended_at = case when $3 then ledger_now() end where payment = $1 and ${isAsRead('$4', '$5')}`,
    [id, watched.state === 'disputed', isOver, watched.blockHash, [watched.state, 'failed']],
  )
}

/** Ends a payment that is under way; one that is not is left as it is. */
export const failPayment = async (state: Queryable, id: string, reason: string): Promise<void> => {
  await state.query('select note_payment($1, null, null, $2)', [id, reason])
}

const captured = (
  chain: TokenChain,
  watched: WatchedPayment,
  found: FoundTransfer,
): PaymentFact => {
  const name = `${chain.network}:${found.transaction}:${found.index}`
  const of = { id: name, payment: watched.id, reference: name }
  return { ...money(chain, watched, found.units), ...of, type: 'captured' }
}

const takenBack = (
  chain: TokenChain,
  watched: WatchedPayment,
  type: 'disputed' | 'dispute_won',
): PaymentFact => {
  const { id, transaction, index, blockHash, units } = watched
  const dispute = `${chain.network}:${transaction}:${index}:${blockHash}`
  return { ...money(chain, watched, units), id: `${dispute}:${type}`, type, payment: id, dispute }
}

/** A unit is whole pico-dollars, as the payment began with. */
const money = ({ env }: TokenChain, { amount, units }: WatchedPayment, found: bigint) => ({
  pusd: (found * (amount / units)).toString(),
  unit: env === 'test' ? 'tUSD' : 'USD',
})

const tell = async (
  state: Queryable,
  { env }: TokenChain,
  fact: PaymentFact,
): Promise<string | undefined> => (await applyFacts(state, processorOf(env), [fact]))[0]

const alarm = async (
  state: Queryable,
  kind: string,
  detail: Readonly<Record<string, string>>,
  key: string,
): Promise<void> => {
  await state.query('select raise_alarm($1, $2, $3)', [kind, JSON.stringify(detail), key])
}
