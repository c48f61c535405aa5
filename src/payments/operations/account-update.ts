// PATCH /v1/account: the low-water mark and the automatic top-ups.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { pusdOfAmount, pusdOfDollars, type AccountChange } from '#contract/payments/payments.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf, suspended } from '#identity/principal.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { adapterOf } from '#payments/settings.ts'
import type { Queryable, State } from '#state/connect.ts'
import { accountReplyOf } from '#payments/account-reply.ts'

export function createAccountUpdate(deps: {
  readonly state: State
  readonly adapters: readonly PaymentAdapter[]
}): Handler<AccountChange> {
  return async (call) => {
    const { body } = call
    const caller = callerOf(call)
    const { account } = caller
    const { low_water: lowWater, auto_topup: automatic } = body
    const endsTopups = automatic === null && lowWater === undefined
    if (caller.suspendedFor !== undefined && !endsTopups)
      throw suspended('Could not change the account', caller.suspendedFor)
    if (automatic && adapterOf(deps.adapters, caller.env) === undefined)
      throw fault('payments_off', 'Could not set automatic top-ups')
    await deps.state.transaction(async (transaction) => {
      await recordAct(transaction, call, {
        action: 'account.update',
        target: account,
        details: body,
      })
      if (automatic !== undefined) await setAutomatic(transaction, account, automatic)
      // It locks the ledger: last.
      if (lowWater !== undefined)
        await transaction.query('select set_low_water($1, $2)', [account, pusdOfDollars(lowWater)])
    })
    const reply = await accountReplyOf(deps.state, caller)
    return { kind: 'known', status: 200, body: () => reply }
  }
}

/** Sets them, with the declines of before forgotten; null removes them. */
async function setAutomatic(
  state: Queryable,
  account: string,
  automatic: NonNullable<AccountChange['auto_topup']> | null,
): Promise<void> {
  const amountOf = (text: string) => present(pusdOfAmount(text), 'a checked amount').toString()
  const values =
    automatic === null
      ? [null, null, null]
      : [automatic.amount, automatic.below, automatic.month_max].map(amountOf)
  if (automatic !== null) await demandCard(state, account)
  await state.query(
    `insert into payment_accounts (account, auto_amount_pusd, auto_below_pusd, auto_month_pusd)
     values ($1, $2, $3, $4)
     on conflict (account) do update set auto_amount_pusd = excluded.auto_amount_pusd, auto_failures = 0,
       auto_below_pusd = excluded.auto_below_pusd, auto_month_pusd = excluded.auto_month_pusd`,
    [account, ...values],
  )
}

async function demandCard(state: Queryable, account: string): Promise<void> {
  const { rows } = await state.query(
    "select from payment_methods where account = $1 and state = 'active' limit 1",
    [account],
  )
  if (rows.length === 0)
    throw fault(
      'payment_method_not_found',
      'Could not set automatic top-ups: the account has no card',
    )
}
