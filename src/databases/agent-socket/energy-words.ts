// Messages for clients of a database whose energy is not paid, or whose energy budget is nearly used up.
import { ErgonError } from '#base/errors.ts'
import { SOON } from './awake.ts'
import type { FatalError } from '#wire/messages.ts'

/** The account cannot pay. */
export const UNPAID: FatalError = {
  code: '53400',
  message: 'the account of this database cannot pay for its energy',
  hint: 'An owner or admin of the account adds funds, or its free energy is renewed at 00:00 UTC.',
}
const raise = (name: string) =>
  `Raise it: ergon db budget ${name} "<energy>/day", or wait until it is renewed at 00:00 UTC.`
export const budgetUsed = (name: string): FatalError => ({
  code: '53400',
  message: "today's energy budget of this database is used up",
  hint: raise(name),
})
const UNHELD: FatalError = {
  code: '57P03',
  message: 'the energy of the database cannot be charged now',
  hint: SOON,
}

/** The words for an error of charging, of the database with this name; undefined for another error. */
export function energyWords(error: unknown, name: string): FatalError | undefined {
  if (!(error instanceof ErgonError)) return undefined
  if (error.code === 'budget_exhausted') return budgetUsed(name)
  if (error.code === 'balance_depleted' || error.code === 'free_tier_exceeded') return UNPAID
  return error.code === 'state_unavailable' ? UNHELD : undefined
}

/** A message with its hint, as a text. */
export const fatalText = ({ message, hint }: FatalError): string => `${message}. ${hint}`

/** For new sessions, from four fifths of a budget on. */
export const nearlyUsed = (name: string): FatalError => ({
  code: '01000',
  message: "four fifths of today's energy budget of this database are used",
  hint: `At its end all sessions end. ${raise(name)}`,
})
