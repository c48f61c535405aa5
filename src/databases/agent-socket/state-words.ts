// The last messages of databases that cannot be used now, for the drivers of their clients.
import type { FatalError } from '#databases/proxy/wire.ts'

export const STARTING: FatalError = {
  code: '57P03',
  message: 'the database system is starting up',
  hint: 'Try again in a few seconds.',
}

/** Its owner lets it sleep. */
export const suspendedWords = (name: string): FatalError => ({
  code: '57P03',
  message: 'the database is suspended',
  hint: `Wake it up: ergon db resume ${name}`,
})
