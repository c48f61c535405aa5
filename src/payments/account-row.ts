// The account with its marks, as account.get and balance.get give it.
import { present } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'

type Row = {
  env: 'live' | 'test'
  funded: boolean
  low_water: string
  deletes_at: Date | null
  created_at: Date
  amount: string | null
  below: string | null
  month_max: string | null
  month: string
  stopped: boolean | null
}

const SELECT = `
  select a.env, a.funded, a.low_water_pusd::text as low_water, a.created_at, d.due_at as deletes_at, s.auto_amount_pusd::text as amount,
    s.auto_below_pusd::text as below, s.auto_month_pusd::text as month_max, s.auto_failures >= 3 as stopped,
    (select coalesce(sum(p.amount_pusd), 0)::text from payments p where p.account = a.id and p.kind = 'automatic'
      and not payment_came_to_nothing(p.state) and p.created_at >= date_trunc('month', ledger_now(), 'UTC')) as month
  from accounts a left join payment_accounts s on s.account = a.id
    left join account_deletions d on d.account = a.id where a.id = $1`

export async function accountRow(state: Queryable, account: string) {
  const { rows } = await state.query<Row>(SELECT, [account])
  const row = present(rows[0], 'the account of a token is there')
  return {
    env: row.env,
    unit: row.env === 'test' ? ('tUSD' as const) : ('USD' as const),
    status: row.deletes_at === null ? ('active' as const) : ('deleting' as const),
    deletes_at: row.deletes_at?.toISOString() ?? null,
    funded: row.funded,
    low_water_pusd: row.low_water,
    created_at: row.created_at.toISOString(),
    auto_topup:
      row.amount === null
        ? null
        : {
            amount_pusd: row.amount,
            below_pusd: row.below,
            month_max_pusd: row.month_max,
            month_pusd: row.month,
            stopped: row.stopped === true,
          },
  }
}
