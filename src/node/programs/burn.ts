// A child that keeps one processor busy for a part of the time: the load of a calibration.
import { sleep } from '#base/clock.ts'
import { onParentGone, readConfig } from '#base/parent.ts'

export type BurnConfig = {
  /** Thousandths of the time. */
  readonly permille: number
  readonly lifeMs: number
}

// Shorter than what a sensor averages over, longer than a time slice of the scheduler.
const PERIOD_MS = 50

const { permille, lifeMs } = await readConfig<BurnConfig>()
onParentGone(() => process.exit(0))
const spinMs = (PERIOD_MS * permille) / 1000
const endMs = performance.now() + lifeMs
while (performance.now() < endMs) {
  const untilMs = performance.now() + spinMs
  while (performance.now() < untilMs);
  // Also at full load: the end of the parent is noticed between two periods.
  await sleep(PERIOD_MS - spinMs)
}
process.exit(0)
