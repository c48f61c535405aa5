// POST /v1/vouchers/redeem: points into the balance, once for each voucher.
import type { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { VoucherRequest } from '#contract/payments/payments.ts'
import { recordAct } from '#identity/audit.ts'
import { once } from '#http/once.ts'
import type { Handler } from '#http/reply.ts'
import type { Posted } from '#ledger/posted.ts'
import { voucherHash } from '#payments/voucher-code.ts'
import type { State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

type Row = { id: string; redeemed: boolean; amount_pusd: string; expires_at: Date | null }

export function createVoucherRedeem(deps: {
  readonly state: State
  readonly secret: Secret
  /** Posts, and reads the changes: the balance pays for the next request here. */
  readonly posted: Posted
}): Handler<VoucherRequest> {
  return async (call) => {
    const { caller, body, signal } = call
    const hash = voucherHash(body.code, deps.secret.reveal())
    const reply = await once(call, deps.state, () => async (transaction) => {
      const known = await transaction.query<{ id: string; amount_pusd: string }>(
        'select id, amount_pusd::text from vouchers where code_hash = $1',
        [hash],
      )
      for (const { id, amount_pusd } of known.rows)
        await recordAct(transaction, call, {
          action: 'voucher.redeem',
          target: id,
          details: { amount_pusd },
        })
      // It locks the ledger: last.
      const { rows } = await transaction.query<Row>('select * from redeem_voucher($1, $2)', [
        callerOf({ caller }).account,
        hash,
      ])
      const [found] = rows
      if (found === undefined)
        throw fault('voucher_not_found', 'Could not redeem the voucher: no such code')
      if (!found.redeemed)
        throw fault(
          'voucher_used',
          `Could not redeem the voucher: ${found.id} was redeemed or has ended`,
        )
      return {
        object: 'voucher',
        id: found.id,
        amount_pusd: found.amount_pusd,
        unit: callerOf({ caller }).env === 'test' ? 'tUSD' : 'USD',
        expires_at: found.expires_at?.toISOString() ?? null,
      }
    })
    // It is redeemed, whether or not the ledger answers once more.
    await deps.posted(signal).catch(() => undefined)
    return { kind: 'known', status: 200, body: () => reply }
  }
}
