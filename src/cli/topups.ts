// A top-up that was begun, until its money is there.
import { setTimeout as pause } from 'node:timers/promises'
import { apiGet, replyOf } from './client.ts'
import { dollars } from './money.ts'
import { CommandError, EXIT, print, tell, tellWork } from './output.ts'
import type { GlobalOptions } from './profile.ts'
import type { topupReply } from '#contract/payments/payments.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

const POLL_MS = 500

export type BegunTopup = ReplyOf<typeof topupReply>

/** Prints the payment once it is not under way any more, or after `polls` polls. Throws where nothing was paid. */
export async function finishTopup(
  options: GlobalOptions,
  id: string,
  polls: number,
): Promise<void> {
  const { text, topup } = await settledTopup(options, id, polls)
  if (options.json) return print(text)
  const { status, amount_pusd: pusd, unit } = topup
  if (status !== 'captured' && status !== 'authorized')
    throw new CommandError(
      `The payment is ${status}: ${topup.reason ?? id}`,
      EXIT.payment,
      'ergon payments',
    )
  const isTest = unit === 'tUSD' ? ' (test money: no funds move)' : ''
  tell(`${dollars(pusd)} ${unit} are ${status === 'captured' ? 'paid' : 'held'}${isTest}: ${id}`)
}

async function settledTopup(options: GlobalOptions, id: string, polls: number) {
  let shownProgress = ''
  for (let left = polls; ; left--) {
    const { text } = await apiGet(options, `/v1/topups/${id}`)
    const topup = replyOf<typeof topupReply>({ text })
    const isOpen = topup.status === 'created' || topup.status === 'requires_action'
    if (!isOpen || left <= 1) return { text, topup }
    const progress = progressOf(topup)
    if (progress !== shownProgress) tellWork(progress)
    shownProgress = progress
    await pause(POLL_MS)
  }
}

const progressOf = ({ transfer }: BegunTopup): string =>
  transfer === null
    ? 'Waiting for the processor'
    : `${transfer.confirmations} of ${transfer.confirmations_needed} confirmations`
