// Ways to put $5 on file: a hold of a card, a voucher. The hold is taken from as the account uses energy.
import { call } from '../client/call.ts'
import { isProblem } from '../client/problem.ts'
import { changed } from '../client/queries.ts'
import { withTouch } from '../client/touch.ts'

/** A card of the test processor that always pays. */
const TEST_CARD = 'pm_card_visa'

const refresh = () => changed('GET /v1/balance', 'GET /v1/topups', 'GET /v1/payment-methods')

/** The address of the processor's page where the payer goes on; undefined: nothing is left to do. */
export async function addCard(isTest: boolean): Promise<string | undefined> {
  const method = await withTouch(() =>
    call('POST /v1/payment-methods', {
      body: { type: 'card', ...(isTest && { token: TEST_CARD }) },
    }),
  )
  await refresh()
  return method.action?.url ?? undefined
}

/** Holds $5 of the newest card that works. A hold that is there already is as good. */
export async function holdFunds(): Promise<string | undefined> {
  try {
    const topup = await withTouch(() => call('POST /v1/topups', { body: { hold: true } }))
    return topup.action?.url ?? undefined
  } catch (error) {
    if (!isProblem(error, 'hold_exists')) throw error
    return undefined
  } finally {
    await refresh()
  }
}

/** `amount` in dollars, such as 20.00. */
export async function topUp(amount: string, method?: string): Promise<string | undefined> {
  const body = { amount, ...(method !== undefined && { payment_method: method }) }
  const topup = await withTouch(() => call('POST /v1/topups', { body }))
  await refresh()
  return topup.action?.url ?? undefined
}

export async function redeemVoucher(code: string): Promise<void> {
  await withTouch(() => call('POST /v1/vouchers/redeem', { body: { code: code.trim() } }))
  await refresh()
}
