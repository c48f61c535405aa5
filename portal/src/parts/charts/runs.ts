// The points of a chart in runs without a gap: nothing is drawn over time that nobody knows of.
import type { PowerPoint } from '#console/live/state.ts'

/** Points of minutes are 60 s apart. */
const GAP_MS = 90_000

export function runsOf(points: readonly PowerPoint[]): readonly (readonly PowerPoint[])[] {
  const runs: PowerPoint[][] = []
  for (const point of points) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (run === undefined || last === undefined || point.atMs - last.atMs > GAP_MS)
      runs.push([point])
    else run.push(point)
  }
  return runs
}
