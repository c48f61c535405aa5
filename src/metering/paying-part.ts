// The part of a window that requests with a payer caused. The window says what all requests cost together. The learned rates,
// and their errors on each side, divide that cost. Beside few strangers with a known rate the window decides. In a storm
// of strangers the rates of paying requests decide.
import { UNATTRIBUTED } from './indirect-part.ts'
import { isOperation } from './indirect-sums.ts'
import type { Regression } from './kalman.ts'

/**
 * So many variances are taken off, as a part of the value: nearly nothing where the division is known. Rates of a small load are
 * more wrong than their deviation says, since the cost of its seconds cannot be told from that of its requests.
 */
const VARIANCES_BELOW = 5
/** Deviations at which a window that is further off is cut: rates of rare strangers have the whole cost of their seconds. */
const DEVIATIONS_MAX = 3

/** The parts of a window follow the learned rates, in milliseconds of CPU. */
export type WindowPart = {
  readonly payingMs: number
  readonly unpaidMs: number
  /** CPU of those who pay, of the CPU that all requests of the window spent; surely not more. */
  payingOf(spentMs: number): number
}

/** `active` is the regressor of seconds with requests: all requests of a window share it. */
export function windowPart(
  counts: ReadonlyMap<string, number>,
  regression: Regression,
  active: string,
): WindowPart {
  const unpaid = counts.get(UNATTRIBUTED) ?? 0
  const requests = counts
    .entries()
    .reduce((sum, [name, count]) => (isOperation(name) ? sum + count : sum), 0)
  const unpaidPartOf = (name: string): number => {
    if (name === active) return unpaid === 0 ? 0 : unpaid / requests
    return name === UNATTRIBUTED || name.startsWith(`${UNATTRIBUTED} `) ? 1 : 0
  }
  const parts = [...counts].map(([name, count]) => {
    const unpaidCount = count * unpaidPartOf(name)
    return { name, unpaid: unpaidCount, paying: count - unpaidCount }
  })
  const valueOf = (side: 'paying' | 'unpaid') =>
    parts.reduce((sum, part) => sum + part[side] * (regression.rate(part.name)?.value ?? 0), 0)
  const [payingMs, unpaidMs] = [valueOf('paying'), valueOf('unpaid')]
  const payingOf = (spentMs: number): number => {
    if (unpaid === 0) return spentMs
    let [variance, covariance, all] = [0, 0, 0]
    for (const a of parts)
      for (const b of parts) {
        const shared = regression.covariance(a.name, b.name)
        variance += a.paying * b.paying * shared
        covariance += a.paying * (b.paying + b.unpaid) * shared
        all += (a.paying + a.unpaid) * (b.paying + b.unpaid) * shared
      }
    const gain = all > 0 ? Math.max(0, Math.min(1, covariance / all)) : 1
    const surprise = spentMs - payingMs - unpaidMs
    const least = -DEVIATIONS_MAX * Math.sqrt(Math.max(0, all))
    const mean = payingMs + gain * Math.max(least, surprise)
    if (mean <= 0) return Math.min(spentMs, 0)
    const left = Math.max(0, variance - gain * covariance)
    return Math.min(spentMs, Math.max(0, mean - (VARIANCES_BELOW * left) / mean))
  }
  return { payingMs, unpaidMs, payingOf }
}
