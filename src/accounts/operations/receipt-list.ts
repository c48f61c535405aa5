// GET /v1/receipts?cursor&limit: what the account was charged, the newest first, by the account's own numbers,
// which have no gap: also what nobody was answered for, such as stored bytes and strangers in its public buckets.
import type { Posted } from '#ledger/posted.ts'
import { printJoules, printMilligrams } from '#base/units.ts'
import { chargeCarbon, chargeEnergy, parseCharge, type Charge } from '#contract/charge.ts'
import { chargedId } from '#contract/charged-resource.ts'
import { fault } from '#contract/errors.ts'
import { rawNumber } from '#contract/raw-json.ts'
import type { Handler } from '#http/reply.ts'
import { resourceNames } from '#resources/resource-names.ts'
import type { Queryable } from '#state/connect.ts'

const LIMIT = 100
export const LIMIT_MAX = 1000

/** More than any account's number, and within a bigint. */
const NUMBER_MAX = '9'.repeat(18)

type Row = { number: string; bytes: Buffer }

export function createReceiptList(deps: { state: Queryable; posted: Posted }): Handler {
  return async ({ who, query: queryOf, signal }) => {
    const query = queryOf()
    const before = readCount(query.get('cursor') ?? NUMBER_MAX, 'cursor', /^\d{1,18}$/)
    const limit = Number(readCount(query.get('limit') ?? String(LIMIT), 'limit', /^[1-9]\d{0,3}$/))
    if (limit > LIMIT_MAX)
      throw fault('invalid_request', `Could not list: limit is at most ${LIMIT_MAX}`, {
        param: 'limit',
      })
    await deps.posted(signal)
    const { rows } = await deps.state.query<Row>(
      `select account_seq as number, bytes from charges where account = $1 and account_seq < $2
       order by account_seq desc limit $3`,
      [who?.account, before, limit + 1],
    )
    const given = rows.slice(0, limit).map((row) => ({ ...row, charge: parseCharge(row.bytes) }))
    const ids = given.flatMap(({ charge: { resource } }) =>
      resource === undefined ? [] : [chargedId(resource)],
    )
    const names = await resourceNames(deps.state, who?.account ?? '', [...new Set(ids)])
    const hasMore = rows.length > limit
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          object: 'list',
          data: given.map(({ number, charge }) => toEntry(number, charge, names)),
          has_more: hasMore,
          next_cursor: hasMore ? given.at(-1)?.number : null,
        }),
    }
  }
}

function toEntry(number: string, charge: Charge, names: ReadonlyMap<string, string>) {
  const { resource } = charge
  const name = resource === undefined ? undefined : names.get(chargedId(resource))
  return {
    id: charge.id,
    account_seq: number,
    request_id: charge.request,
    operation: charge.operation,
    ...(resource === undefined ? {} : { resource }),
    ...(name === undefined ? {} : { resource_name: name }),
    ...(charge.model === undefined ? {} : { model: charge.model }),
    status: charge.status,
    from: charge.from,
    to: charge.to,
    energy_j: rawNumber(printJoules(chargeEnergy(charge))),
    carbon_mg: rawNumber(printMilligrams(chargeCarbon(charge))),
    energy_nj: charge.energy_nj,
    charge_pusd: charge.charge_pusd,
    unit: charge.unit,
  }
}

function readCount(text: string, name: string, form: RegExp): string {
  if (!form.test(text))
    throw fault('invalid_request', `Could not read ${name}: "${text.slice(0, 60)}"`, {
      param: name,
    })
  return text
}
