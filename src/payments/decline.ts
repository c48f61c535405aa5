// The refusal of a card, by the reason that the bank or the processor gave.
import { fault } from '#contract/errors.ts'
import type { ErrorDetails } from '#base/errors.ts'

/** Codes of Stripe, and their words for the payer; docs.stripe.com/declines/codes has all of them. */
const WORDS: Readonly<Record<string, string>> = {
  insufficient_funds: 'the card has not enough money',
  expired_card: 'the card has expired',
  incorrect_cvc: 'the security code of the card is wrong',
  authentication_required: 'the bank wants the payer to confirm',
  resource_missing: 'the processor does not know it',
}

/** payment_declined with the code of the reason; `what` could not be done. */
export const declined = (what: string, reason: string, details: ErrorDetails = {}) =>
  fault(
    'payment_declined',
    `Could not ${what}: ${WORDS[reason] ?? 'the bank declined it'} (${reason})`,
    { details: { ...details, reason } },
  )
