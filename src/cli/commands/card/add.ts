// ergon card add: a card that the payer gives to the processor, on its page or before by a token. A number of a card is never typed here.
import { setTimeout as pause } from 'node:timers/promises'
import type { CommandCall } from '#cli/call.ts'
import { apiGet, apiPostOnce, ApiRefusal, Unreachable, replyOf } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell, tellWork } from '#cli/output.ts'
import type { methodList, methodReply } from '#contract/payments/payments.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

const POLL_MS = 1000
/** Ten minutes, as a login waits. */
const POLLS_MAX = 600

type Card = ReplyOf<typeof methodReply>

export async function run({ options, words: [token] }: CommandCall): Promise<void> {
  const wanted = { type: 'card', ...(token === undefined ? {} : { token }) }
  const answer = await apiPostOnce(options, '/v1/payment-methods', wanted, {
    look: 'ergon card list',
  })
  const { id, action } = replyOf<typeof methodReply>(answer)
  const url = action?.url ?? null
  if (url !== null)
    tell(
      `${token === undefined ? 'Give the card to the processor' : 'Confirm with the bank'}: ${url}`,
    )
  const card = await addedCard(options, id, url)
  if (options.json) return printJson(card)
  tell(`added ${id}: ${card.label}`)
}

/** The card once it pays. Throws where it does not, or nobody has given it in time. */
async function addedCard(
  options: CommandCall['options'],
  id: string,
  url: string | null,
): Promise<Card> {
  for (let left = POLLS_MAX; left > 0; left--) {
    const cards = await listed(options)
    const card = cards?.find((one) => one.id === id)
    if (cards !== undefined && card === undefined)
      throw new CommandError(`The card was not added: ${id}`, EXIT.payment, 'ergon card add')
    if (card?.status === 'active') return card
    if (left === POLLS_MAX) tellWork('Waiting for the processor')
    await pause(POLL_MS)
  }
  const page = url === null ? '' : `; its page is valid for a day: ${url}`
  throw new CommandError(`The card is not there yet: ${id}${page}`, EXIT.payment, 'ergon card list')
}

/** The cards; undefined where the service cannot be asked for a moment, which does not end the wait. */
async function listed(options: CommandCall['options']): Promise<readonly Card[] | undefined> {
  try {
    return replyOf<typeof methodList>(await apiGet(options, '/v1/payment-methods')).data
  } catch (error) {
    if (error instanceof Unreachable || (error instanceof ApiRefusal && error.status >= 500))
      return undefined
    throw error
  }
}
