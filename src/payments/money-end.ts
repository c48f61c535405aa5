// The money of an account that is being deleted: holds are given back, cards are forgotten, unspent money goes back to its
// card, and points end. Payments and transfers stay for the books.
import { ErgonError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { recordSystemAct } from '#identity/audit.ts'
import type { Leave } from '#node/tasks-part.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { endHolds } from './end-holds.ts'
import { forgetThere, type RemovedRow } from './removed-methods.ts'
import { startRefund } from './start-payment.ts'

type Deps = {
  readonly state: State
  readonly log: Logger
  readonly adapters: readonly PaymentAdapter[]
}

/** Payments with money that is not spent. Tokens are given back by the operator. A payment whose refund the bank did not take is not asked again. */
const REFUNDABLE = `select p.id, p.processor, s.payment is not null as by_operator
  from payments p left join stablecoin_payments s on s.payment = p.id
  where p.account = $1 and p.state = 'captured'
    and (select sum(l.remaining) from lots l where l.reference = p.id and l.wallet = 'money:' || p.account
      and l.source like 'operator:funds:%') >= 10000000000
    and not exists (select from payment_refunds r where r.payment = p.id and r.state = 'failed')
  order by p.id`

type Refundable = { id: string; processor: string; by_operator: boolean }

export const createMoneyEnd =
  (deps: Deps): Leave =>
  async (account, signal) => {
    const { state, log, adapters } = deps
    for (const adapter of adapters) await endHolds({ state, log, adapter }, signal)
    const waitsFor = await waits(state, account)
    if (waitsFor !== undefined) return waitsFor
    if (await refundAll(deps, account, signal)) return 'refunds are under way'
    await forgetCards(deps, account, signal)
    await state.query('select leave_money($1)', [account])
    await state.query('delete from payment_accounts where account = $1', [account])
    await state.query('delete from refused_claims where account = $1', [account])
    return undefined
  }

async function waits(state: State, account: string): Promise<string | undefined> {
  const { rows } = await state.query<{ why: string | null }>('select leave_waits($1) as why', [
    account,
  ])
  return rows[0]?.why ?? undefined
}

/** True where a refund was begun. */
async function refundAll(
  { state, adapters }: Deps,
  account: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { rows } = await state.query<Refundable>(REFUNDABLE, [account])
  let isBegun = false
  for (const { id, processor, by_operator: isByOperator } of rows) {
    signal.throwIfAborted()
    const adapter = adapters.find(({ name }) => name === processor)
    if (adapter === undefined && !isByOperator) continue
    const refund = newId('refund')
    if (!(await beginRefund(state, { refund, id, account }))) continue
    if (adapter !== undefined) await startRefund(state, adapter, refund)
    else await raiseAlarm(state, 'refund_to_make', { account, payment: id, refund })
    isBegun = true
  }
  return isBegun
}

/** False where nothing can be given back now: then there is no audit entry either. */
async function beginRefund(
  state: State,
  {
    refund,
    id,
    account,
  }: { readonly refund: string; readonly id: string; readonly account: string },
): Promise<boolean> {
  try {
    await state.transaction(async (transaction) => {
      // The refund locks the ledger: last.
      const details = { refund, amount_pusd: null }
      await recordSystemAct(transaction, account, { action: 'topup.refund', target: id, details })
      const { rows } = await transaction.query<{ amount: string | null }>(
        'select begin_refund($1, $2, $3, null)::text as amount',
        [refund, id, account],
      )
      if (rows[0]?.amount == null) throw fault('refund_exceeds', `Could not give back ${id}`)
    })
    return true
  } catch (error) {
    if (error instanceof ErgonError && error.code === 'refund_exceeds') return false
    throw error
  }
}

/** At the processor first: a card that is forgotten here alone could still be charged there. */
async function forgetCards(
  { state, adapters }: Deps,
  account: string,
  signal: AbortSignal,
): Promise<void> {
  const { rows } = await state.query<RemovedRow>(
    "select id, processor, reference, page from payment_methods where account = $1 and state <> 'removed'",
    [account],
  )
  for (const row of rows) {
    signal.throwIfAborted()
    const adapter = adapters.find(({ name }) => name === row.processor)
    if (adapter !== undefined) await forgetThere(adapter, row)
    await state.query(
      "update payment_methods set state = 'removed', to_forget = reference is distinct from $2 where id = $1",
      [row.id, row.reference],
    )
  }
  await state.query("update payment_methods set label = '' where account = $1", [account])
}
