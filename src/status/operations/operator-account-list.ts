// GET /v1/operator/accounts: the accounts as the operator sees them: their resources and their use, never their contents.
import type { OperatorAccount } from '#contract/operator/operator.ts'
import { idCursor, readListPage, type ListReply } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'

const CURSOR = idCursor('acct')

// The day of UTC, of the hours that the audit has summed, which is behind by a minute: of single charges a day may have millions.
const LIST = `
  select a.id, a.name, a.env, a.created_at, coalesce(w.posted, 0)::text as balance_pusd,
    case when a.funded then 'balance' else 'free_tier' end as pays_with,
    case when d.done_at is not null then 'deleted' when d.account is not null then 'deleting'
      when s.account is not null then 'suspended' else 'active' end as status,
    s.reason as suspended_for,
    json_build_object('requests', u.requests, 'energy_nj', u.energy::text, 'charge_pusd', u.charge::text) as day
  from (
    select * from accounts where id <> 'nobody' and id < $1 order by id desc limit $2
  ) a
  left join wallets w on w.id = 'money:' || a.id
  left join account_deletions d on d.account = a.id
  left join account_suspensions s on s.account = a.id
  cross join lateral (
    select coalesce(sum(requests), 0) as requests, coalesce(sum(energy_nj), 0) as energy,
      coalesce(sum(charge_pusd), 0) as charge
    from usage_hours where account = a.id and hour >= date_trunc('day', ledger_now(), 'UTC')) u
  order by a.id desc`

type Row = Omit<OperatorAccount, 'created_at'> & { readonly created_at: Date }

export const createOperatorAccountList = (state: Queryable): Handler =>
  operatorOnly(state, ({ query }) => listAccounts(state, query()))

/** The page that the query asks for, the newest account first. Throws invalid_request. */
export async function listAccounts(
  state: Queryable,
  query: URLSearchParams,
): Promise<ListReply<OperatorAccount>> {
  const page = readListPage(query, CURSOR.form)
  const { rows } = await state.query<Row>(LIST, [page.cursor?.[0] ?? CURSOR.end, page.rowsMax])
  return page.list(
    rows,
    ({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }),
    ({ id }) => id,
  )
}
