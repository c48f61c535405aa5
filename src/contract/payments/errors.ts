// The error codes of payments.
import { account, caller, final, service, type ErrorTable } from '#contract/error-entry.ts'

export const PAYMENTS_ERRORS = {
  voucher_not_found: caller(
    404,
    'Check the code; test vouchers are for test accounts alone.',
    'not_found_error',
  ),
  voucher_used: final(caller(409, 'A voucher is redeemed once: use another one.')),
  topup_not_found: caller(404, 'Check the id with GET /v1/topups.', 'not_found_error'),
  topup_not_cancelable: caller(
    409,
    'Cancel payments by card that wait for the payer; an unused hold ends by itself; give back paid ones with POST /v1/topups/{topup}/refunds.',
  ),
  payment_method_not_found: caller(
    404,
    'Check the id with GET /v1/payment-methods; add a card with POST or `ergon card add`.',
    'not_found_error',
  ),
  payment_declined: final(
    account(
      402,
      'payment_error',
      'Pay in another way, or ask the bank of the card. A further try needs another Idempotency-Key.',
    ),
  ),
  payment_required: final(
    account(
      402,
      'payment_error',
      'Transfer the tokens and send "transfer"; where the answer has PAYMENT-REQUIRED, pay as it says and repeat the request with PAYMENT-SIGNATURE.',
    ),
  ),
  payment_invalid: final(
    caller(400, 'Sign one of the payments of PAYMENT-REQUIRED, anew, with x402 version 2.'),
  ),
  transfer_pending: caller(409, 'Repeat the request once a block has the transaction.'),
  transfer_refused: final(
    caller(
      409,
      'Sign claim_text by the address that sent the tokens, and check network, token and receiver.',
    ),
  ),
  transfer_claimed: final(caller(409, 'A transfer pays one top-up: GET /v1/topups has yours.')),
  hold_exists: final(caller(409, 'An account has one hold at a time: top up without "hold".')),
  too_many_payments: caller(409, 'Wait until payments that are under way have ended.'),
  too_many_cards: caller(
    409,
    'Remove a card: `ergon card remove`, or DELETE /v1/payment-methods/{method}.',
  ),
  payment_pace_exceeded: final(
    account(
      429,
      'rate_limit_error',
      'Wait for the time in Retry-After: cards that are added, and payments that fail, are limited by the day.',
    ),
  ),
  refund_exceeds: final(
    caller(
      409,
      'Only the unspent part can be given back, without the part that running work reserves.',
    ),
  ),
  payments_off: final(
    caller(409, 'No such way to pay is set up for this kind of money: redeem a voucher.'),
  ),
  payment_processor_away: service(
    503,
    'Retry with the same Idempotency-Key: the begun payment is continued and made once. Without a key see GET /v1/topups first.',
  ),
  webhook_forged: final(caller(400, 'Sign the webhook with the secret of the endpoint.')),
  webhook_late: caller(400, 'Sign the webhook again: its time may differ by 300 s.'),
} as const satisfies ErrorTable
