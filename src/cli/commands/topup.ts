// ergon topup: pays into the balance by card or stablecoin, and waits until the money is there.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPostOnce, replyOf } from '#cli/client.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'
import { sendClaim, printOffer } from '#cli/stablecoins.ts'
import { finishTopup } from '#cli/topups.ts'
import type { topupReply } from '#contract/payments/payments.ts'

const CARD_POLLS_MAX = 240

export async function run({ options, words: [amount] }: CommandCall): Promise<void> {
  const hold = options['hold'] === true
  const transaction = textOption(options, 'transaction')
  const given = [amount !== undefined, hold, transaction !== undefined].filter(Boolean).length
  if (given !== 1) throw new CommandError('Give an amount, or --hold', EXIT.usage, 'ergon topup 20')
  if (transaction !== undefined) {
    const [signature, network] = ['signature', 'network'].map((name) => textOption(options, name))
    return await sendClaim(options, { transaction, signature, network })
  }
  const wanted = hold ? { hold } : { amount }
  if (options['stablecoin'] === true) return await printOffer(options, wanted)
  const card = textOption(options, 'card')
  const answer = await apiPostOnce(
    options,
    '/v1/topups',
    { ...wanted, ...(card === undefined ? {} : { payment_method: card }) },
    { look: 'ergon payments' },
  )
  const made = replyOf<typeof topupReply>(answer)
  if (made.action?.url != null)
    tell(`Confirm with the bank: ${made.action.url}\nor give it up: ergon topup cancel ${made.id}`)
  await finishTopup(options, made.id, CARD_POLLS_MAX)
}
