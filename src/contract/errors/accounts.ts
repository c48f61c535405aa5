// The error codes of accounts.
import { caller, type ErrorTable } from '#contract/error-entry.ts'

export const ACCOUNTS_ERRORS = {
  token_not_found: caller(404, 'Check the id: `ergon tokens list`.', 'not_found_error'),
  too_many_tokens: caller(409, 'Revoke a token that is not needed any more.'),
} as const satisfies ErrorTable
