// The level, which is the real CPU of the last windows as a part of the predicted CPU, and the credit, which is spent CPU that is
// not billed yet.

const LEVEL_MAX = 3
/** The level is of the last four windows, about. */
const DECAY = 4
const OUTLIER = 2
/** Of the credit, in a window of which nothing is billed: 177 ms of a start were billed 30 s later, in one second. */
const CREDIT_KEPT = 0.9
/** Older credit raises the level by this part at most: callers who come later must not pay for callers who have left. */
const OVERDUE_MAX = 0.05
/**
 * This part of the least of three windows is kept beyond the credit of two. A steady load always has the credit of two, since its figures
 * are so late: without the slack each noise above that is lost.
 */
const CREDIT_SLACK = 0.15

/** A window's spent CPU beyond rest, its predicted and billed CPU, in milliseconds. */
type Followed = Readonly<Record<'spent' | 'predicted' | 'billed', number>>

/** The billed part of the rates, and the CPU that is not billed yet. */
export function createLevel(first: number) {
  let value = first
  let spentMs = 0
  let predictedMs = 0
  let creditMs = 0
  let [earlierMs, beforeMs] = [0, 0]
  let mostMs = 0
  let cutMs = 0
  return {
    get value() {
      return value
    },
    get creditMs() {
      return creditMs
    },
    follow({ spent, predicted, billed }: Followed): void {
      // A window that is far off was spent on something else: an index that was cleaned, a model that was loaded.
      const most = OUTLIER * Math.max(predicted, predictedMs / DECAY)
      // Noise of rest adds nothing and takes nothing: an hour of it was a debt of 6 s.
      const least = predicted > 0 ? Number.NEGATIVE_INFINITY : -most
      // A claim can come a window after its CPU: the window before had too much, and this one has too little. The cut part
      // makes up for the missing one, and raises nothing above the prediction.
      const late = Math.max(0, Math.min(cutMs, predicted - spent))
      cutMs = Math.max(0, spent - most)
      const own = Math.max(least, Math.min(spent + late, most))
      creditMs += own - billed
      if (predicted > 0) {
        const slackMs = CREDIT_SLACK * Math.max(0, Math.min(earlierMs, beforeMs, own))
        mostMs = Math.max(0, own + beforeMs + slackMs)
        // The window before had what a late claim takes off this one, and the two together are right.
        earlierMs = beforeMs + Math.min(0, own)
        beforeMs = Math.max(0, own)
      } else if (creditMs > 0) creditMs *= CREDIT_KEPT
      // That of two windows and a little more: their figures reach the gateways so late. Older credit was caused by callers who may have
      // left, and others must not pay for it. Rest adds nothing.
      creditMs = Math.min(creditMs, mostMs)
      predictedMs += predicted - predictedMs / DECAY
      spentMs += own - spentMs / DECAY
      // Credit beyond the last window's is billed with the next windows, before its limit takes it away.
      const overdueMs = Math.min(Math.max(0, creditMs - own), OVERDUE_MAX * spentMs)
      if (predicted > 0)
        value = Math.max(0, Math.min(LEVEL_MAX, (spentMs + overdueMs) / predictedMs))
    },
  }
}
