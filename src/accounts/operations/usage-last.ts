// GET /v1/usage/last: the caller's last request, by token. It waits until every gateway has posted
// what it answered before this call arrived, so that the record is the one the caller expects. The last one is
// what the ledger got last: the clock may have been set back.
import type { Posted } from '#ledger/posted.ts'
import { chargeCarbon, chargeEnergy, parseCharge } from '#contract/charge.ts'
import { printJoules, printMilligrams } from '#base/units.ts'
import { rawNumber } from '#contract/raw-json.ts'
import { fault } from '#contract/errors.ts'
import { OPERATIONS, type OperationName } from '#contract/operations.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

const REMEMBERED = (Object.keys(OPERATIONS) as OperationName[]).filter(
  (name) => OPERATIONS[name].remembered,
)

// A process posts in the order of its requests, whatever the clock says; of two gateways the one that ticks first
// may have answered last. So the time decides among the newest of each process. It counts only within the lag that
// a gateway may have: a clock that was set back by more decides nothing.
const LAG_S = 5
const NEWEST = 100
const LAST = `
  with newest as materialized (
    select account_seq, split_part(session, '.', 1) as process, to_at, id from charges
    where token = $1 and operation = any ($2) order by account_seq desc limit ${NEWEST}
  ), of_process as (
    select distinct on (process) to_at, id from newest order by process, account_seq desc
  ), last as (
    select to_at from newest order by account_seq desc limit 1
  )
  select bytes from charges where id = (
    select p.id from of_process p, last
    where p.to_at between last.to_at and last.to_at + interval '${LAG_S} s'
    order by p.to_at desc, p.id desc limit 1)`

export function createUsageLast(deps: { state: Queryable; posted: Posted }): Handler {
  return async ({ who, signal }) => {
    const { token } = callerOf(who)
    await deps.posted(signal)
    const { rows } = await deps.state.query<{ bytes: Buffer }>(LAST, [token, REMEMBERED])
    const row = rows[0]
    if (row === undefined)
      throw fault('not_found', 'Could not find a last request: this token has made none')
    const charge = parseCharge(row.bytes)
    const [operator = '', region = ''] = charge.routed_to.split('/')
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          request_id: charge.request,
          receipt_id: charge.id,
          operation: charge.operation,
          model: charge.model ?? null,
          energy_j: rawNumber(printJoules(chargeEnergy(charge))),
          carbon_mg: rawNumber(printMilligrams(chargeCarbon(charge))),
          energy_nj: charge.energy_nj,
          charge_pusd: charge.charge_pusd,
          unit: charge.unit,
          operator,
          region,
        }),
    }
  }
}
