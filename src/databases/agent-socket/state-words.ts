// The last messages of databases that cannot be used now, for the drivers of their clients.
import { isUnpaidReason, UNPAID_WORDS } from '#contract/resources/passing-reasons.ts'
import type { FatalError } from '#wire/messages.ts'
import type { HeldFor } from '#resources/resource.ts'
import { SOON } from './awake.ts'
import { budgetUsed, UNPAID } from './energy-words.ts'

export const STARTING: FatalError = {
  code: '57P03',
  message: 'the database system is starting up',
  hint: SOON,
}

/** For a database whose server does not start. */
export const notStartingWords = (name: string): FatalError => ({
  code: '57P03',
  message: 'the server of the database does not start',
  hint: `The reason: ergon db show ${name}. It starts by itself once that is mended.`,
})

/** It is not there yet, or not as its account wants it, for this reason of the API. */
export function reasonWords(name: string, reason: string): FatalError {
  if (reason.startsWith(UNPAID_WORDS.budget)) return budgetUsed(name)
  return isUnpaidReason(reason) ? UNPAID : notStartingWords(name)
}

const HELD: Readonly<Record<Exclude<HeldFor, 'budget' | null>, FatalError>> = {
  balance: UNPAID,
  suspended: {
    code: '57P03',
    message: 'the operator suspended the account of this database',
    hint: 'The reason is in the portal, and in each refused answer of the API.',
  },
  deleting: {
    code: '57P03',
    message: 'the account of this database is being deleted',
    hint: 'Take that back: ergon account restore',
  },
}

/** Its owner lets it sleep, or the service holds it. */
export const suspendedWords = ({
  name,
  held,
}: {
  readonly name: string
  readonly held: HeldFor
}): FatalError =>
  held === null
    ? {
        code: '57P03',
        message: 'the database is suspended',
        hint: `Wake it up: ergon db resume ${name}`,
      }
    : held === 'budget'
      ? budgetUsed(name)
      : HELD[held]
