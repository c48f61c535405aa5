// ergon topup: pays into the balance by card, and waits until the money is there.
import { setTimeout as pause } from 'node:timers/promises'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, apiPost } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { CommandError, EXIT, print, tell, tellWork } from '#cli/output.ts'

const POLL_MS = 500
const POLLS_MAX = 240

type Topup = {
  id: string
  status: string
  amount_pusd: string
  unit: string
  reason: string | null
  action: { url: string | null } | null
}

export async function run({ options, words: [amount] }: CommandCall): Promise<void> {
  const hold = options['hold'] === true
  if (hold === (amount !== undefined))
    throw new CommandError('Give an amount, or --hold', EXIT.usage, 'ergon topup 20')
  const card = textOption(options, 'card')
  const { text } = await apiPost(options, '/v1/topups', {
    ...(hold ? { hold } : { amount }),
    ...(card === undefined ? {} : { payment_method: card }),
  })
  const made = JSON.parse(text) as Topup
  if (made.action?.url != null) tell(`Confirm with the bank: ${made.action.url}`)
  tellWork('Waiting for the processor')
  const done = await settled(options, made.id)
  if (options.json) return print(done.text)
  const { status, amount_pusd: pusd, unit } = done.topup
  if (status !== 'captured' && status !== 'authorized')
    throw new CommandError(
      `The payment is ${status}: ${done.topup.reason ?? made.id}`,
      EXIT.payment,
      'ergon payments',
    )
  const isTest = unit === 'tUSD' ? ' (test money: no funds move)' : ''
  tell(
    `${dollars(pusd)} ${unit} are ${status === 'captured' ? 'paid' : 'held'}${isTest}: ${made.id}`,
  )
}

/** The payment once it is not under way any more. */
async function settled(options: CommandCall['options'], id: string) {
  for (let left = POLLS_MAX; ; left--) {
    const { text } = await apiGet(options, `/v1/topups/${id}`)
    const topup = JSON.parse(text) as Topup
    const isOpen = topup.status === 'created' || topup.status === 'requires_action'
    if (!isOpen || left <= 1) return { text, topup }
    await pause(POLL_MS)
  }
}
