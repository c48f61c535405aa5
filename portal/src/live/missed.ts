// Charges that no message of the stream names, as a message has three at most. A page that waits for one reads again.

/** A message comes each second, and each charge of a read a moment after its answer. */
const OWN_MS = 3_000
const AGAIN_MS = 10_000

export interface MissedWatch {
  /** Takes the count of charges that no message named; the first count is the one to begin with. */
  readonly hear: (count: number) => void
  readonly stop: () => void
}

/** Calls `again` when the count grows, at most each ten seconds. Growth just after an answer is the page's own reads. */
export function watchMissed(again: () => Promise<void>, lastAnswerMs: () => number): MissedWatch {
  let known: number | undefined
  let lastMs = -Infinity
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = () => {
    timer = undefined
    lastMs = Date.now()
    void again()
  }
  return {
    hear(count) {
      const hasGrown = known !== undefined && count > known
      known = count
      const nowMs = Date.now()
      // Without this rule a page whose reads are more than a message names would read for ever.
      if (!hasGrown || timer !== undefined || nowMs - lastAnswerMs() < OWN_MS) return
      timer = setTimeout(ask, Math.max(0, lastMs + AGAIN_MS - nowMs))
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
