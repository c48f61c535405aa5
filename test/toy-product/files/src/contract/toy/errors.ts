// The error codes of the toy.
import { caller, type ErrorTable } from '#contract/error-entry.ts'

export const TOY_ERRORS = {
  toy_full: caller(409, 'The counter of the account is at its end: count no further.'),
} as const satisfies ErrorTable
