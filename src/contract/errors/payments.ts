// The error codes of payments.
import { caller, final, type ErrorTable } from '#contract/error-entry.ts'

export const PAYMENTS_ERRORS = {
  voucher_not_found: caller(
    404,
    'Check the code; test vouchers are for test accounts alone.',
    'not_found_error',
  ),
  voucher_used: final(caller(409, 'A voucher is redeemed once: use another one.')),
} as const satisfies ErrorTable
