// The reference of caused-shares.test.ts: CPU of all cells that a load causes, from the counters of the kernel. Rest is
// measured before all loads and after all. In the first half minute of a product the rest was 22 ms/s, and 13 ms/s later. That
// alone made the bill of the first load 4 % too large a part of its cause.
import { REST, type MeterWindow } from '#metering/window.ts'

/** CPU of all cells at rest, in milliseconds a second, and two standard deviations of that figure. */
export type RestCpu = { readonly msPerS: number; readonly errorMsPerS: number }
export type CausedCpu = { readonly ms: number; readonly errorMs: number }

/** 19 of 20 are within. */
const DEVIATIONS = 2

/** CPU of all cells, in milliseconds. */
export const cellsMs = (windows: readonly MeterWindow[]): number =>
  windows
    .flatMap(({ shares }) => shares)
    .reduce((sum, { name, cpuNs }) => (name === REST ? sum : sum + Number(cpuNs) / 1e6), 0)

export const secondsOf = (windows: readonly MeterWindow[]): number =>
  windows.reduce((sum, { elapsedNs }) => sum + Number(elapsedNs) / 1e9, 0)

/** The CPU in windows without requests. */
export function restOf(windows: readonly MeterWindow[]): RestCpu {
  const msPerS = cellsMs(windows) / secondsOf(windows)
  const squares = windows.reduce(
    (sum, window) => sum + (cellsMs([window]) / secondsOf([window]) - msPerS) ** 2,
    0,
  )
  const count = windows.length
  return { msPerS, errorMsPerS: DEVIATIONS * Math.sqrt(squares / (count - 1) / count) }
}

/** Rest during a load: between that before and that after, wherever there. The errors of the two are independent. */
export const restBetween = (before: RestCpu, after: RestCpu): RestCpu => ({
  msPerS: (before.msPerS + after.msPerS) / 2,
  errorMsPerS:
    Math.abs(before.msPerS - after.msPerS) / 2 +
    Math.hypot(before.errorMsPerS, after.errorMsPerS) / 2,
})

export function causedBy(windows: readonly MeterWindow[], rest: RestCpu): CausedCpu {
  const seconds = secondsOf(windows)
  return { ms: cellsMs(windows) - rest.msPerS * seconds, errorMs: rest.errorMsPerS * seconds }
}
