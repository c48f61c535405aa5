// The cards of the test processor, by the numbers and tokens that Stripe documents for its own test mode.

export type Behaviour =
  | 'ok'
  | 'declined'
  | 'insufficient_funds'
  | 'expired_card'
  | 'incorrect_cvc'
  | 'fails_when_charged'
  | 'authenticates'
  | 'authenticates_at_set_up'
  | 'disputed'
  | 'inquired'
  | 'refund_fails'

export type TestCard = {
  readonly number: string
  readonly token: string
  readonly brand: string
  readonly behaviour: Behaviour
}

const card = (number: string, token: string, behaviour: Behaviour, brand = 'visa'): TestCard => ({
  number,
  token,
  brand,
  behaviour,
})

const CARDS: readonly TestCard[] = [
  card('4242424242424242', 'pm_card_visa', 'ok'),
  card('5555555555554444', 'pm_card_mastercard', 'ok', 'mastercard'),
  card('4000000000000002', 'pm_card_visa_chargeDeclined', 'declined'),
  card('4000000000009995', 'pm_card_visa_chargeDeclinedInsufficientFunds', 'insufficient_funds'),
  card('4000000000000069', 'pm_card_chargeDeclinedExpiredCard', 'expired_card'),
  card('4000000000000127', 'pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc'),
  card('4000000000000341', 'pm_card_chargeCustomerFail', 'fails_when_charged'),
  card('4000002760003184', 'pm_card_authenticationRequired', 'authenticates'),
  card('4000002500003155', 'pm_card_authenticationRequiredOnSetup', 'authenticates_at_set_up'),
  card('4000000000000259', 'pm_card_createDispute', 'disputed'),
  card('4000000000001976', 'pm_card_createDisputeInquiry', 'inquired'),
  card('4000000000005126', 'pm_card_refundFail', 'refund_fails'),
]

export const cardOfNumber = (number: string): TestCard | undefined =>
  CARDS.find((one) => one.number === number.replaceAll(' ', ''))
export const cardOfToken = (token: string): TestCard | undefined =>
  CARDS.find((one) => one.token === token)

/** The code and the bank's code of a refusal; undefined where the card pays. */
export function refusalOf(
  behaviour: Behaviour,
  use: 'set up' | 'charge',
): { readonly code: string; readonly decline_code?: string } | undefined {
  switch (behaviour) {
    case 'declined':
      return { code: 'card_declined', decline_code: 'generic_decline' }
    case 'insufficient_funds':
      return { code: 'card_declined', decline_code: 'insufficient_funds' }
    case 'expired_card':
      return { code: 'expired_card', decline_code: 'expired_card' }
    case 'incorrect_cvc':
      return { code: 'incorrect_cvc', decline_code: 'incorrect_cvc' }
    case 'fails_when_charged':
      return use === 'charge'
        ? { code: 'card_declined', decline_code: 'generic_decline' }
        : undefined
    default:
      return undefined
  }
}
