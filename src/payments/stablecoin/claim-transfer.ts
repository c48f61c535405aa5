// A top-up by a transfer that the payer made: found on the chain first, which has its amount.
import { PUSD_PER_USD, type Pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { AMOUNT_USD_MIN, type TransferClaim } from '#contract/payments/payments.ts'
import type { OperationCall } from '#http/reply.ts'
import { atClaimPace } from './claim-pace.ts'
import { pusdOfUnits, type TokenChain } from './chains.ts'
import { inspectChain, type FoundTransfer } from './inspect-chain.ts'
import { inspectNow } from './inspect-now.ts'
import type { StablecoinDeps } from './pay-signed.ts'
import { claimText, signerOf } from './signed-claim.ts'
import { claimPayment } from './stablecoin-payments.ts'
import { callerOf } from '#identity/principal.ts'

/**
 * The payment. Throws transfer_pending, transfer_refused, transfer_claimed, payment_pace_exceeded,
 * payment_processor_away.
 */
export async function claimTransfer(
  { state, chains }: StablecoinDeps,
  call: OperationCall,
  { network, transaction, signature }: TransferClaim,
): Promise<string> {
  const { account } = callerOf(call)
  const chain = chains.find((one) => one.network === network)
  if (chain === undefined)
    throw fault('invalid_request', `Could not claim the transfer: no payments on "${network}"`, {
      param: 'transfer.network',
    })
  const sender = await signerOf(claimText({ account, network, transaction }), signature)
  const { found, amount } = await atClaimPace(state, { account, network, transaction }, () =>
    findEnough(chain, { sender, transaction }, call.signal),
  )
  const { units, index, block } = found
  const { id } = await claimPayment(state, call, {
    chain,
    payment: {
      account,
      kind: 'topup',
      amount,
      sender,
      units,
      fromBlock: block,
      how: { transaction, index },
    },
  })
  await inspectNow(state, { chain, id }, call.signal)
  return id
}

async function findEnough(
  chain: TokenChain,
  sent: { readonly sender: string; readonly transaction: string },
  signal: AbortSignal,
): Promise<{ readonly found: FoundTransfer; readonly amount: Pusd }> {
  const found = await findTransfer(chain, sent, signal)
  const amount = pusdOfUnits(chain, found.units)
  if (amount < BigInt(AMOUNT_USD_MIN) * PUSD_PER_USD)
    throw refused(`it is of less than $${AMOUNT_USD_MIN}`, 'too_small')
  return { found, amount }
}

async function findTransfer(
  chain: TokenChain,
  { sender, transaction }: { readonly sender: string; readonly transaction: string },
  signal: AbortSignal,
): Promise<FoundTransfer> {
  const sought = { sender, transaction, nonce: null, fromBlock: 0n, seenInBlock: 0n }
  const sight = await inspectChain(chain, sought, signal)
  switch (sight.kind) {
    case 'seen':
      return sight.found
    case 'unsure':
      throw fault('payment_processor_away', sight.reason)
    case 'absent':
      if (!sight.isMined)
        throw fault('transfer_pending', 'Could not find the transaction: no block has it yet')
      throw refused(`${sender}, who signed, sent us nothing of the token in it`, 'no_transfer')
  }
}

const refused = (why: string, reason: string) =>
  fault('transfer_refused', `Could not accept the transfer: ${why}`, { details: { reason } })
