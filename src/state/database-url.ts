// The message for a DATABASE_URL that cannot be used: its address and the fault, never its password.
import pg from 'pg'
import { ErgonError, messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'

/** Advice by SQLSTATE. */
const HINTS: Readonly<Record<string, string>> = {
  // read_only_sql_transaction
  25006: 'a standby, or set to be read only: name the server that may be written to',
  // insufficient_privilege
  42501: 'the role needs the right to create in the database and in the schema',
}

/**
 * The error of a start on the state at `url`: `database_unusable` for faults of the server or of the way there. An
 * error of ours comes back unchanged.
 */
export function unusable(url: string, error: unknown): unknown {
  if (error instanceof ErgonError && error.code !== 'state_unavailable') return error
  const cause = error instanceof ErgonError ? error.cause : error
  const hint = cause instanceof pg.DatabaseError ? HINTS[cause.code ?? ''] : undefined
  return fault(
    'database_unusable',
    `Could not use DATABASE_URL (${placeOf(url)}): ${reasonOf(cause)}${hint === undefined ? '' : ` (${hint})`}`,
    { cause },
  )
}

/** As the driver reads it: what is left out comes from PGHOST and the like. */
function placeOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url })
  return `${host}:${port}/${database}`
}

// A name with two addresses that both refuse: the error of the two has no text of its own.
const reasonOf = (cause: unknown): string =>
  cause instanceof AggregateError
    ? cause.errors.map((each) => messageOf(each)).join(', ')
    : messageOf(cause)
