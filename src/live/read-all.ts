// A reading of all accounts that look, from the one before: at first the sums of the account's day, then only new
// charges.
import { dayOf } from '#base/clock.ts'
import { cellsIn, resourcePower, type PowerMeter } from './power.ts'
import { NO_SUMS, type DaySums, type NewCharges, type ReadAccounts } from './read-accounts.ts'
import { addSums, statesOf, type WatchedAccount } from './watched-account.ts'

export type AccountReading = ReadonlyMap<string, WatchedAccount>
type Begin = Pick<WatchedAccount, 'today' | 'later' | 'charges' | 'newest'>
const DAY_MS = 86_400_000

export async function readAll(
  { read, power }: { readonly read: ReadAccounts; readonly power: PowerMeter },
  known: AccountReading,
  {
    accounts,
    nowMs,
    monotonicMs,
  }: {
    readonly accounts: ReadonlySet<string>
    readonly nowMs: number
    readonly monotonicMs: number
  },
): Promise<AccountReading> {
  const day = dayOf(nowMs)
  const begins = await beginsOf(read, known, { accounts, day, dayBefore: dayOf(nowMs - DAY_MS) })
  // After the sums: what was charged in between is new.
  const { accounts: rows, window } = await read.now([...accounts])
  const spans = rows.flatMap(({ account, charges }) => {
    const after = begins.get(account)?.charges ?? charges
    return BigInt(charges) > BigInt(after) ? [{ account, after, until: charges }] : []
  })
  const isNew = new Set([
    ...rows.map((row) => row.account).filter((account) => !known.has(account)),
    ...spans.map((span) => span.account),
  ])
  // Asked together: the process wakes once for both answers.
  const [charged, newest] = await Promise.all([
    spans.length === 0 ? [] : read.newCharges(spans, power.reported),
    isNew.size === 0 ? [] : read.newest([...isNew]),
  ])
  const cells = cellsIn(window, nowMs)
  const powers = power.read({ accounts, charged, cells, monotonicMs })
  const entries = rows.flatMap((row): [string, WatchedAccount][] => {
    const { account, charges, events, isDeleting } = row
    const begin = begins.get(account)
    if (begin === undefined) return []
    const states = statesOf(row, known.get(account)?.states)
    const last = isNew.has(account) ? newest.filter((one) => one.account === account) : begin.newest
    const own = charged.filter((one) => one.account === account)
    const addedTo = (begun: DaySums, ended: readonly NewCharges[]) =>
      ended.reduce((total, { sums }) => addSums(total, sums), begun)
    const today = addedTo(
      begin.today,
      own.filter((one) => one.day === day),
    )
    const later = addedTo(
      begin.later,
      own.filter((one) => one.day > day),
    )
    const microwatts = powers.get(account) ?? new Map<string, number>()
    const running = resourcePower(cells, account)
    const sums = { account, day, charges, events, isDeleting, today, later, newest: last }
    return [[account, { ...sums, states, microwatts, running }]]
  })
  return new Map(entries)
}

/**
 * The accounts as they were, with the sums of this day. At midnight a day begins with its charges that are counted
 * already: no account is summed again, as all of them look at once.
 */
async function beginsOf(
  read: ReadAccounts,
  known: AccountReading,
  {
    accounts,
    day,
    dayBefore,
  }: {
    readonly accounts: ReadonlySet<string>
    readonly day: string
    readonly dayBefore: string
  },
): Promise<ReadonlyMap<string, Begin>> {
  const begins = new Map<string, Begin>()
  for (const account of accounts) {
    const before = known.get(account)
    if (before?.day === day) begins.set(account, before)
    else if (before?.day === dayBefore)
      begins.set(account, { ...before, today: before.later, later: NO_SUMS })
    else
      begins.set(account, {
        newest: before?.newest ?? [],
        later: NO_SUMS,
        ...(await read.day(account, day)),
      })
  }
  return begins
}
