// Which name is ordered next: the authority limits the orders of all accounts together.

export type DueName = {
  readonly host: string
  readonly account: string
  /** Its certificate is about to end. */
  readonly isRenewal: boolean
}

export interface OrdersOfHour {
  /** Counts the order that it gives; undefined where none of them may be ordered now. */
  take(due: Iterable<DueName>, nowMs: number): DueName | undefined
}

/** Let's Encrypt takes 300 orders of an account in three hours. */
const ORDERS_MAX = 90
const OF_ACCOUNT_MAX = 30
const HOUR_MS = 3_600_000

/** Renewals first, then names of the account with the fewest orders in the last hour. */
export function createOrdersOfHour(): OrdersOfHour {
  let orders: { readonly account: string; readonly atMs: number }[] = []
  return {
    take(due, nowMs) {
      orders = orders.filter(({ atMs }) => Math.abs(nowMs - atMs) < HOUR_MS)
      if (orders.length >= ORDERS_MAX) return undefined
      const counts = new Map<string, number>()
      const countOf = (account: string) => counts.get(account) ?? 0
      for (const { account } of orders) counts.set(account, countOf(account) + 1)
      const rankOf = ({ account, isRenewal }: DueName) =>
        countOf(account) + (isRenewal ? 0 : ORDERS_MAX)
      let next: DueName | undefined
      for (const one of due)
        if (
          countOf(one.account) < OF_ACCOUNT_MAX &&
          (next === undefined || rankOf(one) < rankOf(next))
        )
          next = one
      if (next === undefined) return undefined
      orders.push({ account: next.account, atMs: nowMs })
      return next
    },
  }
}
