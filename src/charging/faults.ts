// Why work is not admitted, or ends before its end.
import { timestamp } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { UNPAID_WORDS } from '#contract/resources/passing-reasons.ts'
import type { Payer } from './spend.ts'

const DAY_MS = 86_400_000

/** The state does not answer, or answers that its books are closed. */
export const silent = () =>
  fault('state_unavailable', 'Could not admit the request: the state did not answer', {
    retryAfterS: 1,
  })

/** The wallet that pays has not enough left. */
export const depleted = (payer: Payer | undefined) =>
  payer?.funded === true
    ? fault('balance_depleted', UNPAID_WORDS.balance)
    : fault('free_tier_exceeded', UNPAID_WORDS.freeTier)

/** An energy budget that limits the work has not enough left on the day of this time. */
export function exhausted(want: string, wallMs: number): ErgonError {
  const budget = want.replace(/^budget:/, '')
  return fault('budget_exhausted', `${UNPAID_WORDS.budget}: ${budget}`, {
    details: { budget, renewed_at: timestamp(Math.floor(wallMs / DAY_MS) * DAY_MS + DAY_MS) },
  })
}

export const isDepleted = (error: unknown): error is ErgonError =>
  error instanceof ErgonError &&
  (error.code === 'balance_depleted' || error.code === 'free_tier_exceeded')

export const isExhausted = (error: unknown): error is ErgonError =>
  error instanceof ErgonError && error.code === 'budget_exhausted'

/** True where the ledger was away. */
export const isSilent = (error: unknown): boolean =>
  error instanceof ErgonError && error.code === 'state_unavailable'

/** Work ended for want of funds: a wallet or a budget is empty, or the ceiling is reached. */
export const isUnpayable = (error: unknown): error is ErgonError =>
  isDepleted(error) ||
  isExhausted(error) ||
  (error instanceof ErgonError && error.code === 'ceiling_reached')
