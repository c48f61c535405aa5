// Payments by stablecoin: how to pay, and the claim of the transfer that paid.
import { setTimeout as pause } from 'node:timers/promises'
import { apiPost, apiPostOnce, ApiRefusal, replyOf } from './client.ts'
import { CommandError, EXIT, print, printJson, tell, tellWork } from './output.ts'
import type { GlobalOptions } from './profile.ts'
import { finishTopup, type BegunTopup } from './topups.ts'
import type { topupReply } from '#contract/payments/payments.ts'

const MINED_POLL_MS = 2000
/** Ten minutes for a block, an hour for the confirmations. */
const MINED_POLLS_MAX = 300
const CONFIRMED_POLLS_MAX = 7200

type CoinOffer = Readonly<
  Record<'network' | 'token' | 'receiver' | 'units' | 'pay_link' | 'claim_text', string>
> & { readonly confirmations: number }
type ClaimedTransfer = {
  readonly transaction: string
  readonly signature: string | undefined
  readonly network: string | undefined
}

/** Prints how to pay an amount. */
export async function printOffer(options: GlobalOptions, body: object): Promise<void> {
  const offer = await offerOf(options, body)
  const { network, token, receiver, units, confirmations, pay_link: link } = offer
  if (options.json) return printJson({ network, token, receiver, units, confirmations, link })
  const rows = { network, token, receiver, units, confirmations: String(confirmations), link }
  for (const [name, value] of Object.entries(rows)) print(`${name.padEnd(15)}${value}`)
  tell('When it is sent: ergon topup --transaction 0x…')
}

/** Claims a transfer and waits for its money; without a signature, prints the text to sign. */
export async function sendClaim(options: GlobalOptions, claim: ClaimedTransfer): Promise<void> {
  const { transaction, signature } = claim
  const offer = await offerOf(options, { amount: '1.00' })
  const network = claim.network ?? offer.network
  if (signature !== undefined) {
    const { id } = await mined(options, { transaction, signature, network })
    return await finishTopup(options, id, CONFIRMED_POLLS_MAX)
  }
  const text = offer.claim_text
    .replace('<transaction>', transaction)
    .replace(offer.network, network)
  if (options.json) return printJson({ text })
  print(text)
  tell('Sign this text with the wallet that sent the tokens, and add --signature 0x…')
}

/** The first answer of the service: what is to be paid. */
async function offerOf(options: GlobalOptions, body: object): Promise<CoinOffer> {
  try {
    await apiPost(options, '/v1/topups', { ...body, method: 'stablecoin' })
  } catch (error) {
    if (error instanceof ApiRefusal && error.code === 'payment_required')
      return error.problem as CoinOffer
    throw error
  }
  throw new CommandError('The service asked for no payment', EXIT.failed)
}

async function mined(options: GlobalOptions, transfer: object): Promise<BegunTopup> {
  for (let left = MINED_POLLS_MAX; ; left--) {
    try {
      const answer = await apiPostOnce(
        options,
        '/v1/topups',
        { method: 'stablecoin', transfer },
        { look: 'ergon payments' },
      )
      return replyOf<typeof topupReply>(answer)
    } catch (error) {
      const isPending = error instanceof ApiRefusal && error.code === 'transfer_pending'
      if (!isPending || left <= 1) throw error
      if (left === MINED_POLLS_MAX) tellWork('Waiting for a block with the transaction')
      await pause(MINED_POLL_MS)
    }
  }
}
