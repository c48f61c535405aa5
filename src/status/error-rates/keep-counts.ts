// Brings the counts of a gateway to the state once a period: a crash loses those of one period, which no bill needs.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { AccountCounts } from '#http/account-counts.ts'
import type { Queryable } from '#state/connect.ts'

export type CountKeeper = {
  /** Writes what is counted so far; counts that cannot be written wait for the next time. Never rejects. */
  flush(): Promise<void>
  stop(): void
}

export function keepAccountCounts({
  state,
  accounts,
  periodMs,
  log,
}: {
  readonly state: Queryable
  readonly accounts: AccountCounts
  readonly periodMs: number
  readonly log: Logger
}): CountKeeper {
  let writing: Promise<void> = Promise.resolve()
  const write = async (): Promise<void> => {
    const taken = accounts.take()
    if (taken.size === 0) return
    const counts = [...taken.values()]
    try {
      await state.query('select add_account_counts($1, $2, $3)', [
        [...taken.keys()],
        counts.map(({ requests }) => requests),
        counts.map(({ failures }) => failures),
      ])
    } catch (error) {
      accounts.putBack(taken)
      log.warn('Counts of requests by account wait for the state', { error: messageOf(error) })
    }
  }
  const flush = () => (writing = writing.then(write))
  const timer = setInterval(() => void flush(), periodMs)
  timer.unref()
  return { flush, stop: () => clearInterval(timer) }
}
