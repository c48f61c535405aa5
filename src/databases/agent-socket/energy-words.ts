// Messages for clients of a database whose energy is not paid, or whose energy budget is nearly used up.
import { ErgonError } from '#base/errors.ts'
import type { FatalError } from '#databases/proxy/wire.ts'

/** The account cannot pay. */
const UNPAID: FatalError = {
  code: '53400',
  message: 'the account of this database cannot pay for its energy',
  hint: 'Add funds to the account, or wait until its free energy is renewed at 00:00 UTC.',
}
const RAISE =
  'Raise it: ergon db budget <name> "<energy>/day", or wait until it is renewed at 00:00 UTC.'
const EXHAUSTED: FatalError = {
  code: '53400',
  message: "today's energy budget of this database is used up",
  hint: RAISE,
}
const UNHELD: FatalError = {
  code: '57P03',
  message: 'the energy of the database cannot be charged now',
  hint: 'Try again in a few seconds.',
}

/** The words for an error of charging; undefined for another error. */
export function energyWords(error: unknown): FatalError | undefined {
  if (!(error instanceof ErgonError)) return undefined
  if (error.code === 'budget_exhausted') return EXHAUSTED
  if (error.code === 'balance_depleted' || error.code === 'free_tier_exceeded') return UNPAID
  return error.code === 'state_unavailable' ? UNHELD : undefined
}

/** For new sessions, from four fifths of a budget on. */
export const NEARLY_USED: FatalError = {
  code: '01000',
  message: "four fifths of today's energy budget of this database are used",
  hint: `At its end all sessions end. ${RAISE}`,
}
