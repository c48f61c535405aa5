// Accounts that look while nothing happens are read less often: most of the cost of looking is the query. A request of
// theirs to this gateway ends the rest at once. Charges and events of other processes move the counters of an account,
// which are checked meanwhile.
import type { Charging } from '#charging/charging.ts'
import type { OperationName } from '#contract/operations.ts'
import { serviceOf } from '#contract/operations.ts'
import type { AccountReading } from './read-all.ts'
import type { WatchedAccount } from './watched-account.ts'

/** The time from one reading to the next while nothing changes. */
export const QUIET_READ_MS = 6000
/** Between two checks of the counters. */
const CHECK_MS = 2000
const LOOKING: OperationName = 'live.get'

export interface Quiet {
  /** True while the next reading can wait. */
  rests(accounts: ReadonlySet<string>, nowMs: number): boolean
  /** True when the counters are to be checked in a rest. */
  checks(nowMs: number): boolean
  /** Reports a reading that begins, and returns the taker of its result. */
  begin(
    accounts: ReadonlySet<string>,
    nowMs: number,
  ): (before: AccountReading, after: AccountReading) => void
}

/** `requestsOf` counts the answered requests of an account. */
export function createQuiet(deps: {
  readonly charging: Pick<Charging, 'spends'>
  readonly requestsOf: (account: string) => number
}): Quiet {
  let isQuiet = false
  let begunMs = 0
  let checkedMs = 0
  let mark = ''
  const markOf = (accounts: ReadonlySet<string>) =>
    [...accounts].map((account) => `${account} ${deps.requestsOf(account)}`).join('\n')
  const isBusy = (accounts: ReadonlySet<string>) => {
    for (const { payer, operation } of deps.charging.spends)
      if (payer !== undefined && operation !== LOOKING && accounts.has(payer.account)) return true
    return false
  }
  return {
    rests: (accounts, nowMs) =>
      isQuiet && nowMs - begunMs < QUIET_READ_MS && mark === markOf(accounts) && !isBusy(accounts),
    checks(nowMs) {
      if (nowMs - checkedMs < CHECK_MS) return false
      checkedMs = nowMs
      return true
    },
    begin(accounts, nowMs) {
      isQuiet = false
      begunMs = nowMs
      checkedMs = nowMs
      mark = markOf(accounts)
      return (before, after) => {
        isQuiet = [...after].every(([account, now]) => isSame(before.get(account), now))
      }
    },
  }
}

/** No news but the cost of looking. */
function isSame(before: WatchedAccount | undefined, now: WatchedAccount): boolean {
  if (before?.charges !== now.charges) return false
  for (const [name, state] of now.states)
    if (state.text !== before.states.get(name)?.text) return false
  for (const [service, microwatts] of now.microwatts)
    if (service !== serviceOf(LOOKING) && microwatts > 0) return false
  return true
}
