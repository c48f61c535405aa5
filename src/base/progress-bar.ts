// Progress on a terminal: one bar on one line, drawn over itself and erased when its work is done or another
// line is to be written. Nothing is drawn where the stream is not a terminal.
import type { WriteStream } from 'node:tty'

export type ProgressBar = {
  /** Reports how far a piece of work is; `totalBytes` is undefined while nobody knows it. */
  show(what: string, doneBytes: number, totalBytes: number | undefined): void
  /** Erases the bar. To be called before another line is written, and at the end of the work. */
  erase(): void
}

type Terminal = Pick<WriteStream, 'write'> & { readonly isTTY?: boolean; readonly columns?: number }
type BarState = {
  readonly beginMs: number
  readonly beginBytes: number
  readonly seenMs: number
  readonly doneBytes: number
  readonly totalBytes: number | undefined
}

const REDRAW_MS = 100
/** Silence after which work gives the line to other work. */
const SILENT_MS = 3000
/** A rate over a shorter time than this would jump. */
const RATE_MS_LEAST = 1000
const CELLS_MAX = 24
const CELLS_LEAST = 6
const ERASE_LINE = '\r\u001b[2K'
const WRAP_OFF = '\u001b[?7l'
const WRAP_ON = '\u001b[?7h'

/** Draws the oldest piece of work that is not done yet, at most ten times a second. */
export function createProgressBar(
  terminal: Terminal,
  nowMs: () => number = () => performance.now(),
): ProgressBar {
  const works = new Map<string, BarState>()
  let isDrawn = false
  let drawnMs = -Infinity

  function erase(): void {
    if (isDrawn) terminal.write(ERASE_LINE)
    isDrawn = false
    drawnMs = -Infinity
  }
  function draw(now: number): void {
    const shown = [...works].find(([, { seenMs }]) => now - seenMs < SILENT_MS)
    if (shown === undefined) return erase()
    if (now - drawnMs < REDRAW_MS) return
    const text = barText(shown[0], shown[1], { nowMs: now, columns: terminal.columns ?? 80 })
    // A line of the log that comes in between begins where the bar begins, and leaves little of the bar.
    terminal.write(`${ERASE_LINE}${WRAP_OFF}${text}${WRAP_ON}\r`)
    isDrawn = true
    drawnMs = now
  }
  return {
    show(what, doneBytes, totalBytes) {
      if (terminal.isTTY !== true) return
      const now = nowMs()
      const before = works.get(what)
      const begin = beginOf(before, doneBytes, now)
      if (totalBytes !== undefined && doneBytes >= totalBytes) {
        if (works.delete(what)) erase()
      } else works.set(what, { ...begin, seenMs: now, doneBytes, totalBytes })
      draw(now)
    },
    erase,
  }
}

/** The start of the rate's measurement: the last poll before the first bytes. The wait for the server is left out. */
function beginOf(
  before: BarState | undefined,
  doneBytes: number,
  now: number,
): Pick<BarState, 'beginMs' | 'beginBytes'> {
  if (before === undefined || before.doneBytes > doneBytes)
    return { beginMs: now, beginBytes: doneBytes }
  const hasMoved = before.doneBytes > before.beginBytes
  return hasMoved ? before : { beginMs: before.seenMs, beginBytes: before.beginBytes }
}

/** One line: what, the bar where there is room for one, bytes, rate and remaining time. */
export function barText(
  what: string,
  work: BarState,
  { nowMs, columns }: { nowMs: number; columns: number },
): string {
  const { beginMs, beginBytes, doneBytes, totalBytes } = work
  const elapsedMs = nowMs - beginMs
  const bytesPerS = elapsedMs < RATE_MS_LEAST ? 0 : ((doneBytes - beginBytes) / elapsedMs) * 1000
  const left =
    bytesPerS > 0 && totalBytes !== undefined
      ? [`${timeText((totalBytes - doneBytes) / bytesPerS)} left`]
      : []
  const figures = [
    totalBytes === undefined ? `${mib(doneBytes)} MiB` : `${mib(doneBytes)}/${mib(totalBytes)} MiB`,
    ...(bytesPerS > 0 ? [`${mib(bytesPerS, 1)} MiB/s`] : []),
    ...left,
  ].join(', ')
  // Two brackets and two spaces around the bar; the last column stays free.
  const room = columns - 1 - what.length - figures.length - 4
  if (totalBytes === undefined || room < CELLS_LEAST) return `${what} ${figures}`
  const cells = Math.min(CELLS_MAX, room)
  const full = Math.floor((doneBytes / totalBytes) * cells)
  return `${what} [${'█'.repeat(full).padEnd(cells)}] ${figures}`
}

const mib = (bytes: number, digits = 0) => (bytes / 1_048_576).toFixed(digits)

function timeText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
