// Records of the export about the account's money: its cards, its payments, and each posting of its ledger. A charge's id is that
// of its receipt.
import { recordsOf, type Records } from '#http/account-records.ts'
import type { Queryable } from '#state/connect.ts'
import { ledgerEntryOf } from './entry-reply.ts'
import type { LedgerPosition } from './ledger-entry.ts'
import { FIRST_POSITION, ledgerPage, newestOf } from './ledger-page.ts'

const PAGE = 1000

export const paymentRecords = (state: Queryable): Readonly<Record<string, Records>> => ({
  card: recordsOf(
    state,
    `select id as place, id, processor, label, state as status, created_at from payment_methods
     where account = $1 and id > $2 order by id limit $3`,
  ),
  automatic_topup: recordsOf(
    state,
    `select account as place, auto_amount_pusd::text as amount_pusd, auto_below_pusd::text as below_pusd,
       auto_month_pusd::text as month_max_pusd from payment_accounts
     where account = $1 and account > $2 and auto_amount_pusd is not null limit $3`,
  ),
  payment: recordsOf(
    state,
    `select id as place, id, kind, processor, amount_pusd::text, state as status, reason, created_at from payments
     where account = $1 and id > $2 order by id limit $3`,
  ),
  ledger: (account, signal) => ledgerOf(state, account, signal),
})

/** The newest first, as of the first page's moment. */
async function* ledgerOf(
  state: Queryable,
  account: string,
  signal: AbortSignal,
): AsyncGenerator<object> {
  const filter = { account, from: null, to: null, operations: null, kind: null }
  const newest = await newestOf(state, account)
  let after: LedgerPosition = { ...FIRST_POSITION, ...newest }
  for (;;) {
    signal.throwIfAborted()
    const rows = await ledgerPage(state, filter, { after, limit: PAGE })
    yield* rows.map(ledgerEntryOf)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = { ...newest, at: last.at_us, rank: last.rank, number: last.number }
  }
}
