// The sums of an account's money over the entries that a filter leaves. Charges come from the sums by the hour that the
// audit keeps, so a year costs little more than a day.
import { TRANSFER_KIND } from '#ledger/transfer-kind.ts'
import { sumUsage } from '#ledger/usage.ts'
import type { Queryable } from '#state/connect.ts'
import type { LedgerFilter } from './ledger-entry.ts'

export type LedgerSums = {
  readonly entries: number
  readonly in_pusd: string
  readonly out_pusd: string
  readonly energy_nj: string
}

const FIRST_DAY = new Date(0)
/** Beyond every clock. */
const LAST_DAY = new Date('9999-01-01T00:00:00Z')
/** More than there are operations. */
const GROUPS_MAX = 10_000

const TRANSFERS = `
  select count(*) as entries, coalesce(sum(amount) filter (where credit = 'money:' || $1), 0)::text as credited,
    coalesce(sum(amount) filter (where debit = 'money:' || $1), 0)::text as debited
  from transfers where 'money:' || $1 in (debit, credit)
    and ($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3)
    and ($4::text is null or ${TRANSFER_KIND} = $4)`

/** To be asked in the snapshot of the page that they go with. */
export async function ledgerSums(state: Queryable, filter: LedgerFilter): Promise<LedgerSums> {
  const charges = await chargeSums(state, filter)
  const transfers = await transferSums(state, filter)
  return {
    entries: charges.entries + transfers.entries,
    in_pusd: transfers.credited.toString(),
    out_pusd: (charges.money + transfers.debited).toString(),
    energy_nj: charges.energy.toString(),
  }
}

async function chargeSums(state: Queryable, filter: LedgerFilter) {
  const none = { entries: 0, money: 0n, energy: 0n }
  if (filter.kind !== null && filter.kind !== 'charge') return none
  const span = {
    account: filter.account,
    from: filter.from ?? FIRST_DAY,
    to: filter.to ?? LAST_DAY,
  }
  const rows = await sumUsage(state, span, 'operation', { offset: 0, limit: GROUPS_MAX })
  return rows
    .filter(({ group }) => filter.operations === null || filter.operations.includes(group ?? ''))
    .reduce(
      (sum, row) => ({
        entries: sum.entries + Number(row.requests),
        money: sum.money + BigInt(row.charge),
        energy: sum.energy + BigInt(row.energy),
      }),
      none,
    )
}

async function transferSums(state: Queryable, filter: LedgerFilter) {
  if (filter.operations !== null || filter.kind === 'charge')
    return { entries: 0, credited: 0n, debited: 0n }
  const { rows } = await state.query<{ entries: string; credited: string; debited: string }>(
    TRANSFERS,
    [filter.account, filter.from, filter.to, filter.kind],
  )
  const [row] = rows
  return {
    entries: Number(row?.entries ?? 0),
    credited: BigInt(row?.credited ?? 0),
    debited: BigInt(row?.debited ?? 0),
  }
}
