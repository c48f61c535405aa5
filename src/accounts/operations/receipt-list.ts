// GET /v1/receipts?cursor&limit: what the account was charged, the newest first, by the account's own numbers,
// which have no gap: also what nobody was answered for, such as stored bytes and strangers in its public buckets.
import { bundledBelow } from '#ledger/bundles/bundled-charge.ts'
import type { Posted } from '#ledger/posted.ts'
import { printJoules, printMilligrams } from '#base/units.ts'
import { chargeCarbon, chargeEnergy, parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { chargedId } from '#contract/ledger/charged-resource.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import { readListPage } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import { resourceNames } from '#resources/resource-names.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

const CURSOR = /^\d{1,18}$/
/** More than any account's number, and within a bigint. */
const NUMBER_MAX = '9'.repeat(18)

type Row = { number: string; bytes: Buffer }

export function createReceiptList(deps: { state: Queryable; posted: Posted }): Handler {
  return async ({ caller, query: queryOf, signal }) => {
    const page = readListPage(queryOf(), CURSOR)
    await deps.posted(signal)
    const rows = await readRows(deps.state, callerOf({ caller }).account, {
      before: page.cursor?.[0] ?? NUMBER_MAX,
      limit: page.rowsMax,
    })
    const given = page.of(rows).map((row) => ({ ...row, charge: parseCharge(row.bytes) }))
    const ids = given.flatMap(({ charge: { resource } }) =>
      resource === undefined ? [] : [chargedId(resource)],
    )
    const names = await resourceNames(deps.state, callerOf({ caller }).account, [...new Set(ids)])
    const next = page.next(rows, ({ number }) => number)
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          object: 'list',
          data: given.map(({ number, charge }) => toEntry(number, charge, names)),
          has_more: next !== null,
          next_cursor: next,
        }),
    }
  }
}

async function readRows(
  state: Queryable,
  account: string,
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<Row[]> {
  const { rows } = await state.query<Row>(
    `select account_seq as number, bytes from charges where account = $1 and account_seq < $2
     order by account_seq desc limit $3`,
    [account, before, limit],
  )
  const below = BigInt(rows.at(-1)?.number ?? before)
  const bundled = await bundledBelow(state, { account, below }, { limit: limit - rows.length })
  return [
    ...rows,
    ...bundled.map(({ accountSeq, bytes }) => ({ number: String(accountSeq), bytes })),
  ]
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
