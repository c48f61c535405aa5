// A page of an account's money: its charges and the transfers of its wallet in one order, the newest first. The pages of
// one walk are of one moment: a cursor bounds them by the newest charge and transfer of its first page.
import { TRANSFER_KIND } from '#ledger/transfer-kind.ts'
import { findBundled } from '#ledger/bundles/bundled-charge.ts'
import type { Queryable } from '#state/connect.ts'
import type { LedgerFilter, LedgerPosition, LedgerRow } from './ledger-entry.ts'
import { entryOfBundled, withBundled } from './bundled-entries.ts'

/** Above every number. */
const NEWEST = '9'.repeat(18)
export const FIRST_POSITION: LedgerPosition = {
  at: 'infinity',
  rank: 1,
  number: NEWEST,
  chargeMax: NEWEST,
  transferMax: NEWEST,
}

const CHARGE = `to_at as at, 0 as rank, account_seq as number, id, 'charge' as kind, -charge_pusd as amount, operation,
  model, energy_nj as energy, null as reference, bytes as charge from charges`
const transfersOf = (side: 'debit' | 'credit') =>
  `select at, 1 as rank, id as number, 'tr_' || id as id, ${TRANSFER_KIND} as kind, ${side === 'debit' ? '-' : ''}amount as amount,
     null as operation, null as model, null::numeric as energy, nullif(reference, '') as reference,
     null::bytea as charge
   from transfers where ${side} = 'money:' || $1`
const AT_US = `to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at_us`
const RANGE = `($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3)`
const AFTER = (rank: 0 | 1, at: string, number: string) =>
  `${at} <= $6::timestamptz and (${at}, ${rank}, ${number}) < ($6::timestamptz, $7::int, $8::bigint)`

const pageOf = (side: 'debit' | 'credit') =>
  `(select * from (${transfersOf(side)}) t where ${RANGE} and $4::text[] is null
    and ($5::text is null or kind = $5) and number <= $10 and ${AFTER(1, 'at', 'number')}
    order by at desc, number desc limit $11)`

// The order is by the numbers themselves: those of the answer are text, of which 9 comes after 10.
const PAGE = `
  select at, ${AT_US}, rank, number::text, id, kind,
    amount::text, operation, model, energy::text, reference, charge
  from (
    (select ${CHARGE} where account = $1 and ${RANGE.replaceAll(/\bat\b/g, 'to_at')}
      and ($4::text[] is null or operation = any ($4)) and ($5::text is null or $5 = 'charge')
      and account_seq <= $9 and ${AFTER(0, 'to_at', 'account_seq')}
      order by to_at desc, account_seq desc limit $11)
    union all ${pageOf('debit')}
    union all ${pageOf('credit')}
  ) entries order by entries.at desc, entries.rank desc, entries.number desc limit $11`

/** At most `limit` entries after a position. To be asked in one snapshot. */
export async function ledgerPage(
  state: Queryable,
  filter: LedgerFilter,
  page: { readonly after: LedgerPosition; readonly limit: number },
): Promise<readonly LedgerRow[]> {
  const { after, limit } = page
  const { rows } = await state.query<LedgerRow>(PAGE, [
    filter.account,
    filter.from,
    filter.to,
    filter.operations,
    filter.kind,
    after.at,
    after.rank,
    after.number,
    after.chargeMax,
    after.transferMax,
    limit,
  ])
  return await withBundled(state, filter, page, rows)
}

/** The numbers of the newest charge and the newest transfer that the walk may give. */
export async function newestOf(
  state: Queryable,
  account: string,
): Promise<Pick<LedgerPosition, 'chargeMax' | 'transferMax'>> {
  const { rows } = await state.query<{ charge: string; transfer: string }>(
    `select a.charge_count::text as charge, greatest(
       (select coalesce(max(id), 0) from transfers where debit = 'money:' || a.id),
       (select coalesce(max(id), 0) from transfers where credit = 'money:' || a.id))::text as transfer
     from accounts a where a.id = $1`,
    [account],
  )
  return { chargeMax: rows[0]?.charge ?? '0', transferMax: rows[0]?.transfer ?? '0' }
}

/** The ids that an entry may have for a payment: its own, and those of its refunds and of the claims of its processor. */
async function namesOf(state: Queryable, id: string): Promise<string[]> {
  const { rows } = await state.query<{ id: string }>(
    `select id from payment_refunds where payment = $1
     union all select id from payment_claims where payment = $1`,
    [id],
  )
  return [id, ...rows.map((row) => row.id)]
}

/** The entries that an id names: a receipt, a request, a transfer, or the cause of transfers. */
export async function ledgerOfId(
  state: Queryable,
  account: string,
  id: string,
): Promise<readonly LedgerRow[]> {
  const transfer = /^tr_(\d{1,18})$/.exec(id)?.[1] ?? null
  const { rows } = await state.query<LedgerRow>(
    `select at, ${AT_US}, rank, number::text, id, kind, amount::text, operation, model, energy::text, reference, charge
     from (
       select ${CHARGE} where account = $1 and id = regexp_replace($2, '^req_', 'rcpt_')
       union all select * from (${transfersOf('debit')} and (reference = any ($4) or id = $3)) d
       union all select * from (${transfersOf('credit')} and (reference = any ($4) or id = $3)) c
     ) found order by found.at desc, found.rank desc, found.number desc limit 1000`,
    [account, id, transfer, await namesOf(state, id)],
  )
  if (rows.some(({ rank }) => rank === 0)) return rows
  const bundled = await findBundled(state, id.replace(/^req_/, 'rcpt_'), [account])
  return bundled === undefined ? rows : [...rows, entryOfBundled(bundled)]
}
