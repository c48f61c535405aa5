// GET /v1/usage/last: the caller's last request, by token. It waits until every gateway has posted
// what it answered before this call arrived, so that the record is the one the caller expects.
import type { Posted } from '#accounts/posted.ts'
import { chargeCarbon, chargeEnergy, parseCharge } from '#contract/charge.ts'
import { printJoules, printMilligrams } from '#base/units.ts'
import { rawNumber } from '#contract/raw-json.ts'
import { fault } from '#contract/errors.ts'
import { OPERATIONS, type OperationName } from '#contract/operations.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'

const REMEMBERED = (Object.keys(OPERATIONS) as OperationName[]).filter(
  (name) => OPERATIONS[name].remembered,
)

export function createUsageLast(deps: { state: Queryable; posted: Posted }): Handler {
  return async ({ who, signal }) => {
    const token = who?.token ?? ''
    await deps.posted(signal)
    const { rows } = await deps.state.query<{ bytes: Buffer }>(
      `select bytes from charges where token = $1 and operation = any ($2)
       order by to_at desc, id desc limit 1`,
      [token, REMEMBERED],
    )
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
          model: charge.model ?? charge.operation,
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
