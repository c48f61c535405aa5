// POST /v1/vouchers/redeem: points into the balance, once for each voucher.
import type { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { VoucherRequest } from '#contract/payments.ts'
import type { Handler } from '#http/reply.ts'
import type { Posted } from '#ledger/posted.ts'
import { voucherHash } from '#payments/voucher-code.ts'
import type { Queryable } from '#state/connect.ts'

type Row = { id: string; redeemed: boolean; amount_pusd: string; expires_at: Date | null }

export function createVoucherRedeem(deps: {
  readonly state: Queryable
  readonly secret: Secret
  /** Posts and learns what changed: the balance pays for the next request here. */
  readonly posted: Posted
}): Handler<VoucherRequest> {
  return async ({ who, body, signal }) => {
    const { rows } = await deps.state.query<Row>('select * from redeem_voucher($1, $2)', [
      who?.account,
      voucherHash(body.code, deps.secret.reveal()),
    ])
    const [row] = rows
    if (row === undefined)
      throw fault('voucher_not_found', 'Could not redeem the voucher: no such code')
    if (!row.redeemed)
      throw fault(
        'voucher_used',
        `Could not redeem the voucher: ${row.id} was redeemed or has ended`,
      )
    // It is redeemed, whether or not the ledger answers once more.
    await deps.posted(signal).catch(() => undefined)
    const reply = {
      object: 'voucher',
      id: row.id,
      amount_pusd: row.amount_pusd,
      unit: who?.env === 'test' ? 'tUSD' : 'USD',
      expires_at: row.expires_at?.toISOString() ?? null,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }
}
