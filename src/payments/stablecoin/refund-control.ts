// The operator's operations on refunds of stablecoin payments. The service has no key of a wallet: the operator sends the
// tokens, and the refund is done once the chain has them.
import type { PAYMENTS_CONTROL } from '#contract/payments/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import { fault } from '#contract/errors.ts'
import { recordOperatorAct } from '#identity/audit.ts'
import type { PaymentFact } from '#payments/adapter.ts'
import { applyFacts } from '#payments/start-payment.ts'
import { isUniqueViolation, type State } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import { inspectChain, type FoundTransfer } from './inspect-chain.ts'

const LISTED_MAX = 1000

type RefundRow = {
  readonly id: string
  readonly payment: string
  readonly account: string
  readonly processor: string
  readonly pusd: string
  /** A unit of the token is whole pico-dollars. */
  readonly pusd_per_unit: string
  readonly network: string
  readonly token: string
  /** The payer, who gets the tokens. */
  readonly receiver: string
  readonly final: boolean
  readonly created_at: Date
}
type RefundHandlers = Pick<
  ControlHandlers<typeof PAYMENTS_CONTROL>,
  'refund.list' | 'refund.settle' | 'refund.refuse'
>

const PENDING = `
  select r.id, p.id as payment, p.account, p.processor, r.amount_pusd::text as pusd,
    div(p.amount_pusd, s.units)::text as pusd_per_unit, s.network, s.token, s.sender as receiver, s.ended_at is not null as final, r.created_at
  from payment_refunds r join payments p on p.id = r.payment join stablecoin_payments s on s.payment = p.id
  where r.state = 'pending'`

export const refundHandlers = (state: State, chains: readonly TokenChain[]): RefundHandlers => ({
  'refund.list': async () => {
    const { rows } = await state.query<RefundRow>(`${PENDING} order by r.id limit ${LISTED_MAX}`)
    return rows.map(listed)
  },
  'refund.settle': async ({ refund, transaction, from }, { signal }) => {
    const row = await pending(state, refund)
    if (!row.final)
      throw fault('transfer_pending', `Could not settle ${refund}: its payment is not final yet`)
    const found = await sentBack({ row, chains, transaction, from }, signal)
    const reference = `${row.network}:${found.transaction}:${found.index}`
    await tell(state, row, { type: 'refunded', reference })
    return { refund, transaction }
  },
  'refund.refuse': async ({ refund }) => {
    await tell(state, await pending(state, refund), { type: 'refund_failed', reference: null })
    return { refund }
  },
})

async function pending(state: State, refund: string): Promise<RefundRow> {
  const { rows } = await state.query<RefundRow>(`${PENDING} and r.id = $1`, [refund])
  const [row] = rows
  if (row === undefined) throw fault('not_found', `Could not find a refund that waits: "${refund}"`)
  return row
}

const chainOf = ({ network }: Pick<RefundRow, 'network'>, chains: readonly TokenChain[]) =>
  chains.find((chain) => chain.network === network)

function listed(found: RefundRow) {
  const { id, payment, account, pusd, network, token, receiver, final, created_at } = found
  const units = dueOf(found).toString()
  return { id, payment, account, pusd, network, token, units, receiver, final, created_at }
}

const dueOf = ({ pusd, pusd_per_unit }: RefundRow): bigint => BigInt(pusd) / BigInt(pusd_per_unit)

/** The transfer of the tokens to the payer. Throws transfer_pending, transfer_refused, payment_processor_away. */
async function sentBack(
  asked: {
    readonly row: RefundRow
    readonly chains: readonly TokenChain[]
    readonly transaction: string
    readonly from: string | undefined
  },
  signal: AbortSignal,
): Promise<FoundTransfer> {
  const { row, chains, transaction, from } = asked
  const chain = chainOf(row, chains)
  if (chain === undefined) throw fault('payments_off', `Could not ask ${row.network}: not set up`)
  const sender = from ?? chain.receiver
  const toPayer = { ...chain, token: row.token, receiver: row.receiver }
  const sought = { sender, transaction, nonce: null, fromBlock: 0n, seenInBlock: 0n }
  const sight = await inspectChain(toPayer, sought, signal)
  if (sight.kind === 'unsure') throw fault('payment_processor_away', sight.reason)
  if (sight.kind === 'absent' || sight.found.units < dueOf(row))
    throw fault('transfer_refused', `Could not settle ${row.id}: ${sender} sent less in it`)
  if (sight.confirmations < chain.confirmations)
    throw fault(
      'transfer_pending',
      `Could not settle ${row.id}: ${sight.confirmations} confirmations`,
    )
  return sight.found
}

/** Ends a refund, with its audit entry. A transaction ends one. */
async function tell(
  state: State,
  row: RefundRow,
  outcome: { readonly type: 'refunded' | 'refund_failed'; readonly reference: string | null },
): Promise<void> {
  const { type, reference } = outcome
  const others = fault(
    'transfer_claimed',
    `Could not settle ${row.id}: the transfer is another refund's`,
  )
  try {
    await state.transaction(async (transaction) => {
      // Another refund of the payment may be settled beside this one.
      await transaction.query('select from payments where id = $1 for no key update', [row.payment])
      const known = await transaction.query(
        'select from payment_refunds where reference = $1 and id <> $2',
        [reference, row.id],
      )
      if (known.rows.length > 0) throw others
      await recordOperatorAct(transaction, row.account, {
        action: type === 'refunded' ? 'refund.settle' : 'refund.refuse',
        target: row.id,
        details: { payment: row.payment, reference },
      })
      const fact: PaymentFact = {
        id: `${row.id}.${type}`,
        type,
        payment: row.payment,
        refund: row.id,
        ...(reference === null ? {} : { refund_reference: reference }),
      }
      await applyFacts(transaction, row.processor, [fact])
    })
  } catch (error) {
    // Beside another call with the same transfer.
    throw isUniqueViolation(error) ? others : error
  }
}
