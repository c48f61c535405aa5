// The pace at which a followed log is read again, by this browser's clock alone: that of the service may differ by minutes.
const WRITTEN_MS = 2_000
const QUIET_MS = 10_000
/** A log without a new line for so long is quiet. */
const QUIET_AFTER_MS = 60_000

type Line = { readonly at: string; readonly text: string }

/** Milliseconds until a followed log is read again: each read is charged, so a quiet log is read less often. */
export function createLogPace(clockMs: () => number = Date.now) {
  let newest: string | undefined
  let changedMs = -Infinity
  return (lines: readonly Line[] | undefined): number => {
    const last = lines?.at(-1)
    const seen = last === undefined ? undefined : `${last.at} ${last.text}`
    if (seen !== newest) changedMs = clockMs()
    newest = seen
    return clockMs() - changedMs < QUIET_AFTER_MS ? WRITTEN_MS : QUIET_MS
  }
}
