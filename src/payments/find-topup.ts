// Payments as the API gives them.
import { fault } from '#contract/errors.ts'
import type { TopupReply } from '#contract/payments/payments.ts'
import type { Queryable } from '#state/connect.ts'

type Row = {
  id: string
  kind: TopupReply['kind']
  processor: string
  amount: string
  unit: TopupReply['unit']
  state: TopupReply['status']
  reason: string | null
  action: TopupReply['action']
  refunded: string
  lives_until: Date | null
  created_at: Date
  transfer: TopupReply['transfer']
}

const SELECT = `
  select p.id, p.kind, p.processor, p.amount_pusd::text as amount, money_unit(p.account) as unit, p.state, p.reason,
    p.action, p.lives_until, p.created_at, (select coalesce(sum(r.amount_pusd), 0)::text from (
      select amount_pusd from payment_refunds where payment = p.id and state = 'succeeded'
      union all select amount_pusd from payment_claims where payment = p.id and kind = 'refund' and state = 'taken'
    ) r) as refunded, case when s.payment is not null then json_build_object('network', s.network, 'token', s.token,
      'sender', s.sender, 'receiver', s.receiver, 'units', s.units::text, 'transaction', s.transaction,
      'confirmations', s.confirmations, 'confirmations_needed', s.confirmations_needed,
      'final', p.state = 'captured' and s.ended_at is not null) end as transfer
  from payments p left join stablecoin_payments s on s.payment = p.id where p.account = $1`

/** Throws topup_not_found. */
export async function findTopup(
  state: Queryable,
  account: string,
  id: string,
): Promise<TopupReply> {
  const { rows } = await state.query<Row>(`${SELECT} and p.id = $2`, [account, id])
  const [row] = rows
  if (row === undefined)
    throw fault('topup_not_found', `Could not find the top-up: "${id.slice(0, 60)}"`)
  return replyOf(row)
}

/** The newest first, of those before an id. */
export async function listTopups(
  state: Queryable,
  account: string,
  page: { readonly before: string; readonly limit: number },
): Promise<TopupReply[]> {
  const { rows } = await state.query<Row>(`${SELECT} and p.id < $2 order by p.id desc limit $3`, [
    account,
    page.before,
    page.limit,
  ])
  return rows.map(replyOf)
}

const replyOf = (row: Row): TopupReply => ({
  id: row.id,
  object: 'topup',
  kind: row.kind,
  processor: row.processor,
  amount_pusd: row.amount,
  unit: row.unit,
  status: row.state,
  reason: row.reason,
  action: row.action,
  refunded_pusd: row.refunded,
  held_until: row.lives_until?.toISOString() ?? null,
  transfer: row.transfer,
  created_at: row.created_at.toISOString(),
})
