// The operator's operations on vouchers and grants of points.
import { newId } from '#base/ids.ts'
import type { PAYMENTS_CONTROL } from '#contract/payments/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { fault } from '#contract/errors.ts'
import { once } from '#http/once.ts'
import { operatorKey } from '#http/operator-key.ts'
import { recordOperatorAct } from '#identity/audit.ts'
import { voucherCodes, voucherHash } from '#payments/voucher-code.ts'
import type { State } from '#state/connect.ts'

const LISTED_MAX = 1000
const INSERT = `insert into vouchers (id, code_hash, env, amount_pusd, kind, priority, lives_days, redeemable_until,
    note, created_at)
  select v.id, v.hash, $3, $4, $5, $6, $7, ledger_now() + make_interval(days => $8), $9, ledger_now()
  from unnest($1::text[], $2::bytea[]) as v (id, hash)`

/** `secret` is the data folder's, which the gateways have too. */
export const voucherHandlers = (
  state: State,
  secret: string,
): Pick<
  ControlHandlers<typeof PAYMENTS_CONTROL>,
  'voucher.create' | 'voucher.list' | 'grant.create'
> => ({
  'voucher.create': async (asked) => {
    const codeOf = voucherCodes(secret, asked.idempotency_key)
    const keyed = await operatorKey(state, 'voucher.create', asked)
    const { ids } = await once(keyed, state, () => async (transaction) => {
      const ids = Array.from({ length: asked.count }, () => newId('voucher'))
      await transaction.query(INSERT, [
        ids,
        ids.map((id) => voucherHash(codeOf(id), secret)),
        asked.env,
        asked.pusd,
        asked.kind,
        asked.priority,
        asked.lives_days ?? null,
        asked.redeemable_days ?? null,
        asked.note,
      ])
      return { ids }
    })
    return ids.map((id) => ({ id, code: codeOf(id) }))
  },
  'voucher.list': async () =>
    (
      await state.query<ControlAnswer<'voucher.list'>[number]>(
        `select id, env, amount_pusd::text as pusd, kind, priority, lives_days, redeemable_until, note, created_at,
           redeemed_at, redeemed_by
         from vouchers order by id desc limit ${LISTED_MAX}`,
      )
    ).rows,
  'grant.create': async (asked) => {
    const { account, pusd, kind, priority, lives_days: days } = asked
    const keyed = await operatorKey(state, 'grant.create', asked)
    return await once(keyed, state, () => async (transaction) => {
      const id = newId('grant')
      const { rowCount } = await transaction.query(
        "select from accounts where id = $1 and id <> 'nobody'",
        [account],
      )
      if (rowCount === 0)
        throw fault('not_found', `Could not grant the points: no account "${account}"`)
      const details = { amount_pusd: pusd, kind, priority, lives_days: days ?? null }
      await recordOperatorAct(transaction, account, { action: 'grant.create', target: id, details })
      await transaction.query('select grant_points($1, $2, $3, $4, $5, $6)', [
        id,
        account,
        pusd,
        kind,
        priority,
        days ?? null,
      ])
      return { id, account, pusd }
    })
  },
})
