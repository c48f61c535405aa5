// The refusal of a query by the server or the proxy, as an error of the API.
import type pg from 'pg'
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { UNPAID } from '#databases/agent-socket/energy-words.ts'

/** Ends of a session that are no fault of its statement, by SQLSTATE. */
const ENDS: Readonly<Record<string, 'budget_exhausted' | 'database_not_ready' | 'overloaded'>> = {
  // The role of queries was deleted, and the proxy does not know its new password for a second.
  '28P01': 'database_not_ready',
  '53300': 'overloaded',
  '53400': 'budget_exhausted',
  '57P03': 'database_not_ready',
}
/** The SQLSTATE of a write in a transaction that only reads, as that of each query is. */
const WRITE = '25006'
const RETRY_S = 1

/** The refusal of a statement, with the place of the error in it. */
export function queryRefusal(error: pg.DatabaseError): ErgonError {
  const { code = '', message, position, hint } = error
  const details = {
    sqlstate: code,
    ...(position !== undefined && { position: Number(position) }),
    ...(hint !== undefined && { hint }),
  }
  const refusal = refusalOf(error)
  const place = position === undefined ? '' : `, at character ${position}`
  const advice = hint === undefined ? '' : `: ${hint}`
  const words = `${message} (SQLSTATE ${code}${place})${advice}`
  return fault(refusal, `Could not run the query: ${words}`, {
    details,
    ...(refusal === 'overloaded' && { retryAfterS: RETRY_S }),
  })
}

/** A statement may raise any SQLSTATE, but not end its session with one. */
function refusalOf({ severity, code = '', message }: pg.DatabaseError) {
  if (severity !== 'FATAL')
    return code === WRITE ? 'database_query_read_only' : 'database_query_failed'
  if (message === UNPAID.message) return 'balance_depleted'
  return ENDS[code] ?? 'database_query_failed'
}
