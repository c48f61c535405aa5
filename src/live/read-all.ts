// A reading of all accounts that look, from the one before: at the begin of a day the sums of the account's day, then
// only what is new.
import { dayOf } from '#base/clock.ts'
import type { PowerMeter } from './power.ts'
import type { NewCharges, ReadAccounts } from './read-accounts.ts'
import { addSums, statesOf, type WatchedAccount } from './watched-account.ts'

export type AccountReading = ReadonlyMap<string, WatchedAccount>
type Begin = Pick<WatchedAccount, 'today' | 'charges' | 'newest'>

export async function readAll(
  { read, power }: { readonly read: ReadAccounts; readonly power: PowerMeter },
  known: AccountReading,
  { accounts, nowMs }: { readonly accounts: ReadonlySet<string>; readonly nowMs: number },
): Promise<AccountReading> {
  const day = dayOf(nowMs)
  const begins = await beginsOf(read, known, { accounts, day })
  // After the sums: what was charged in between is new.
  const { accounts: rows, window } = await read.now([...accounts])
  const spans = rows.flatMap(({ account, charges }) => {
    const after = begins.get(account)?.charges ?? charges
    return BigInt(charges) > BigInt(after) ? [{ account, after, until: charges }] : []
  })
  const charged = spans.length === 0 ? [] : await read.newCharges(spans, day, power.reported)
  const isNew = new Set([
    ...rows.map((row) => row.account).filter((account) => !known.has(account)),
    ...spans.map((span) => span.account),
  ])
  const newest = isNew.size === 0 ? [] : await read.newest([...isNew])
  const powers = power.read({ accounts, charged, window, nowMs })
  const entries = rows.flatMap((row): [string, WatchedAccount][] => {
    const { account, charges, isDeleting } = row
    const begin = begins.get(account)
    if (begin === undefined) return []
    const states = statesOf(row, known.get(account)?.states)
    const own = isNew.has(account) ? newest.filter((one) => one.account === account) : begin.newest
    const today = todayOf(begin, account, charged)
    const microwatts = powers.get(account) ?? new Map<string, number>()
    return [
      [account, { account, day, charges, isDeleting, today, newest: own, states, microwatts }],
    ]
  })
  return new Map(entries)
}

/** The accounts as they were, with the sums of this day. */
async function beginsOf(
  read: ReadAccounts,
  known: AccountReading,
  { accounts, day }: { readonly accounts: ReadonlySet<string>; readonly day: string },
): Promise<ReadonlyMap<string, Begin>> {
  const begins = new Map<string, Begin>()
  for (const account of accounts) {
    const before = known.get(account)
    if (before?.day === day) begins.set(account, before)
    else begins.set(account, { newest: [], ...before, ...(await read.day(account, day)) })
  }
  return begins
}

const todayOf = ({ today }: Begin, account: string, charged: readonly NewCharges[]) =>
  charged
    .filter((one) => one.account === account)
    .reduce((sum, one) => addSums(sum, one.today), today)
