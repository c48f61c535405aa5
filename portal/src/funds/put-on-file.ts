// Ways to put $5 on file: a hold of a card, a voucher. The hold is taken from as the account uses energy.
import { call } from '#console/client/call.ts'
import { pause } from '#console/client/pause.ts'
import { isProblem, Problem } from '#console/client/problem.ts'
import { withTouch } from '#console/client/touch.ts'
import { paymentsChanged } from './payments-changed.ts'

/** A card of the test processor that always pays. */
const TEST_CARD = 'pm_card_visa'
const TRY_MS = 500
const TRIES_MAX = 20

/** The address of the processor's page where the payer goes on; undefined: nothing is left to do. */
export async function addCard(isTest: boolean): Promise<string | undefined> {
  const method = await withTouch(() =>
    call('POST /v1/payment-methods', {
      body: { type: 'card', ...(isTest && { token: TEST_CARD }) },
    }),
  )
  const page = method.action?.url ?? undefined
  if (page === undefined) await settled(method.id)
  await paymentsChanged()
  return page
}

/** The processor reports a card a moment later. Throws Problem where it declines the card, or says nothing. */
async function settled(id: string): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { data } = await call('GET /v1/payment-methods', {})
    const state = data.find((method) => method.id === id)?.status
    if (state === 'active') return
    if (state === 'failed') throw declined()
    await pause(TRY_MS)
  }
  throw new Problem({
    status: 503,
    code: 'payment_processor_away',
    detail: 'The processor has not told of the card yet: it is here once it has',
  })
}

const declined = () =>
  new Problem({ status: 402, code: 'payment_declined', detail: 'The processor declined the card' })

/** Holds $5 of the newest card that works. A hold that is there already is as good. */
export async function holdFunds(): Promise<string | undefined> {
  try {
    const topup = await withTouch(() => call('POST /v1/topups', { body: { hold: true } }))
    return topup.action?.url ?? undefined
  } catch (error) {
    if (!isProblem(error, 'hold_exists')) throw error
    return undefined
  } finally {
    await paymentsChanged()
  }
}

/** `amount` in dollars, such as 20.00. */
export async function topUp(amount: string, method?: string): Promise<string | undefined> {
  const body = { amount, ...(method !== undefined && { payment_method: method }) }
  const topup = await withTouch(() => call('POST /v1/topups', { body }))
  await paymentsChanged()
  return topup.action?.url ?? undefined
}

export async function redeemVoucher(code: string): Promise<void> {
  await withTouch(() => call('POST /v1/vouchers/redeem', { body: { code: code.trim() } }))
  await paymentsChanged()
}
