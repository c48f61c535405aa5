// The rows of stablecoin payments: an authorisation or a transfer belongs to one payment, for ever.
import { ErgonError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { once } from '#http/once.ts'
import type { OperationCall } from '#http/reply.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import { beginPayment } from '#payments/begin-payment.ts'
import type { Queryable, State } from '#state/connect.ts'
import { processorOf, type TokenChain } from './chains.ts'

/** A payment, by the transfer that is to be found on the chain. */
export type NewStablecoinPayment = {
  readonly account: string
  readonly kind: 'hold' | 'topup'
  readonly amount: Pusd
  readonly sender: string
  readonly units: bigint
  readonly fromBlock: bigint
  readonly how: Authorised | Transferred
}
type Authorised = {
  readonly nonce: string
  readonly validBefore: bigint
  /** For the facilitator. */
  readonly payload: unknown
}
type Transferred = { readonly transaction: string; readonly index: number }

/**
 * The payment of this authorisation or transfer, made with its audit entry where there is none. Throws
 * transfer_claimed where another account has it, too_many_payments, hold_exists.
 */
export async function claimPayment(
  state: State,
  call: KeyedCall,
  { chain, payment }: { readonly chain: TokenChain; readonly payment: NewStablecoinPayment },
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const known = await findPayment(state, chain, payment)
  if (known !== undefined) return { id: known, isNew: false }
  try {
    return { id: await makePayment(state, call, { chain, payment }), isNew: true }
  } catch (error) {
    // Beside another request for the same.
    const first = isClaimed(error) ? await findPayment(state, chain, payment) : undefined
    if (first === undefined) throw error
    return { id: first, isNew: false }
  }
}

const isClaimed = (error: unknown): boolean =>
  error instanceof ErgonError && error.code === 'transfer_claimed'

type KeyedCall = ActingCall & Pick<OperationCall, 'begun'>

async function makePayment(
  state: State,
  call: KeyedCall,
  { chain, payment }: { readonly chain: TokenChain; readonly payment: NewStablecoinPayment },
): Promise<string> {
  const { id } = await once(call, state, () => async (transaction) => {
    const { kind, amount, account } = payment
    const { env, network } = chain
    const made = newId('pay')
    const processor = processorOf(env)
    await beginPayment(transaction, { id: made, account, processor, kind, amount, method: null })
    const details = { kind, amount_pusd: amount.toString(), method: 'stablecoin', network }
    await recordAct(transaction, call, { action: 'topup.create', target: made, details })
    await insert(transaction, made, { chain, payment })
    return { id: made }
  })
  return id
}

const claimed = () =>
  fault('transfer_claimed', 'Could not take the transfer: it has paid a top-up already')

/** Throws transfer_claimed where it is another account's. */
export async function findPayment(
  state: Queryable,
  { network, token }: TokenChain,
  { account, sender, how }: NewStablecoinPayment,
): Promise<string | undefined> {
  const { rows } = await state.query<{ id: string; account: string }>(
    `select p.id, p.account from stablecoin_payments s join payments p on p.id = s.payment
     where s.network = $1 and (s.token = $2 and s.sender = $3 and s.nonce = $4
       or s.transaction = $5 and s.log_index = $6)`,
    [
      network,
      token,
      sender,
      ...('nonce' in how ? [how.nonce, null, null] : [null, how.transaction, how.index]),
    ],
  )
  const [row] = rows
  if (row !== undefined && row.account !== account) throw claimed()
  return row?.id
}

async function insert(
  state: Queryable,
  id: string,
  { chain, payment }: { readonly chain: TokenChain; readonly payment: NewStablecoinPayment },
): Promise<void> {
  const { network, token, receiver, confirmations } = chain
  const { sender, units, fromBlock, how } = payment
  const isAuthorised = 'nonce' in how
  const { rowCount } = await state.query(
    `insert into stablecoin_payments (payment, network, token, receiver, sender, units, confirmations_needed, from_block,
       nonce, valid_before, payload, transaction, log_index, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ledger_now()) on conflict do nothing`,
    [
      id,
      network,
      token,
      receiver,
      sender,
      units.toString(),
      confirmations,
      fromBlock.toString(),
      ...(isAuthorised
        ? [how.nonce, how.validBefore.toString(), JSON.stringify(how.payload), null, null]
        : [null, null, null, how.transaction, how.index]),
    ],
  )
  if (rowCount === 0) throw claimed()
}
