// The end of a hold: the hold is captured once a cent of it is spent, else given back a day before its authorisation ends.
// Reads of the account's own bill are charged too, so less than a cent is no use.
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { PUSD_PER_CENT } from './card/card-facts.ts'
import { forEachPayment, turn } from './for-each-payment.ts'

const BATCH = 100
/** Before the end of an authorisation an unused hold is given back. */
export const HOLD_ENDS_BEFORE_MS = 86_400_000

type Deps = {
  readonly state: Queryable
  readonly log: Logger
  readonly adapter: PaymentAdapter
}

type DueHold = { id: string; reference: string; used: boolean }

// Money that the ledger took back, as of an authorisation that it gave up, is not spent.
const DUE = `
  select id, reference, spent >= ${PUSD_PER_CENT} as used
  from (
    select p.id, p.reference, p.lives_until, p.amount_pusd - l.remaining - coalesce((select sum(t.amount) from transfers t
      where t.reference = p.id and t.kind = 'expired'), 0) as spent,
      exists (select from account_deletions d where d.account = p.account and d.begun_at is not null) as is_leaving
    from payments p join lots l on l.id = p.lot
    where p.processor = $1 and p.state = 'authorized' and p.reference is not null
  ) held
  where spent >= ${PUSD_PER_CENT} or lives_until < ledger_now() + interval '${HOLD_ENDS_BEFORE_MS} milliseconds' or is_leaving
  order by ${turn('held.id', 'lives_until')} limit ${BATCH}`

/** Asks the processor; its webhook about the result moves the money. May be repeated. */
export async function endHolds({ state, adapter, log }: Deps, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<DueHold>(DUE, [adapter.name])
  await forEachPayment({ rows, state, log, signal }, ({ id, reference, used }) =>
    used ? adapter.capture(id, reference) : adapter.void(id, reference),
  )
}
