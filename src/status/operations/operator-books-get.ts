// GET /v1/operator/books: the books, the signers and the backups, as the state has them.
import { present } from '#base/errors.ts'
import type { OperatorBooks } from '#contract/operator/operator.ts'
import type { Handler } from '#http/reply.ts'
import { SIGNERS } from '#signers/wire.ts'
import type { State } from '#state/connect.ts'
import { booksCheck, booksFigures } from '#status/metrics/books-figures.ts'
import { createChargedReader } from '#status/operator/charged-sums.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'

type Row = {
  states: Record<string, string>
  looked_at: Date | null
  databases: number
  last_done_at: Date | null
  waiting: number
  failed: number
}

const FURTHER = `
  select s.states, s.looked_at,
    (select count(*)::int from resources where kind = 'database' and desired <> 'deleted') as databases,
    (select max(ended_at) from database_backups where status = 'done') as last_done_at,
    (select count(*)::int from database_backups where status in ('wanted', 'running')) as waiting,
    (select count(*)::int from database_backups
      where status = 'failed' and ended_at > ledger_now() - interval '7 days') as failed
  from receipt_signers s`

export function createOperatorBooksGet(state: State): Handler {
  const readCharged = createChargedReader(state)
  return operatorOnly(state, () => readBooks(state, readCharged))
}

/** Rejects when the state does not answer. */
async function readBooks(
  state: State,
  readCharged: () => Promise<OperatorBooks['charged']>,
): Promise<OperatorBooks> {
  const [check, figures, charged, { rows }] = await Promise.all([
    booksCheck(state),
    booksFigures(state),
    readCharged(),
    state.query<Row>(FURTHER),
  ])
  const { states, looked_at, last_done_at, ...backups } = present(rows[0], 'signers have a row')
  return {
    object: 'operator_books',
    ...check,
    charges: String(figures.leaves),
    sealed: String(figures.leaves - figures.receiptsWaiting),
    charged,
    alarms: figures.alarms,
    signers: {
      ready: figures.signersReady ?? null,
      total: SIGNERS,
      states,
      looked_at: looked_at?.toISOString() ?? null,
    },
    backups: { ...backups, last_done_at: last_done_at?.toISOString() ?? null },
  }
}
