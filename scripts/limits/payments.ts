// Limits: payments.
import * as payments from '#contract/payments/payments.ts'
import { PAYMENTS_OPEN_MAX } from '#payments/begin-payment.ts'
import { TOLERANCE_S } from '#payments/card/card-adapter.ts'
import { WEBHOOK_BYTES_MAX } from '#payments/operations/payment-webhook.ts'
import { CARDS_PER_DAY_MAX, FAILURES_PER_DAY_MAX, METHODS_MAX } from '#payments/pace.ts'
import { REFUSED_CLAIMS_PER_DAY_MAX } from '#payments/stablecoin/claim-pace.ts'
import { bytes, code, count, type LimitSection } from './limit.ts'

export const PAYMENTS: LimitSection = {
  title: 'Payments',
  limits: [
    [
      'a top-up',
      `$${payments.AMOUNT_USD_MIN} to $${count(payments.AMOUNT_USD_MAX)}`,
      code('invalid_request'),
    ],
    [
      'top-ups of an account that are under way',
      count(PAYMENTS_OPEN_MAX),
      code('too_many_payments'),
    ],
    ['cards of an account', count(METHODS_MAX), code('too_many_cards')],
    [
      'cards that an account may try to add in a day',
      count(CARDS_PER_DAY_MAX),
      code('payment_pace_exceeded'),
    ],
    [
      'payments of an account that fail in a day, with those under way',
      count(FAILURES_PER_DAY_MAX),
      code('payment_pace_exceeded'),
    ],
    [
      'transactions of an account whose claims are refused in a day',
      count(REFUSED_CLAIMS_PER_DAY_MAX),
      code('payment_pace_exceeded'),
    ],
    ['a webhook of a processor', bytes(WEBHOOK_BYTES_MAX), code('body_too_large')],
    ['age of the signature of such a webhook', `${TOLERANCE_S} s`, code('webhook_late')],
  ],
}
