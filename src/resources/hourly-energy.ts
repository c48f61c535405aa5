// The charges of a resource up to now, summed by the hour.
import { ENERGY_SINCE } from '#contract/resources/hourly-energy.ts'
import { msOfDuration } from '#contract/values/durations.ts'
import { shownEnergy, sumResource, type ResourceSpan } from '#ledger/resource-energy.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'

/** The figures of the time `since` before `nowMs`, and those of each hour. `since` is a duration that the contract takes. */
export async function hourlyEnergy(
  state: State,
  {
    since = ENERGY_SINCE.byDefault,
    nowMs,
    ...of
  }: Omit<ResourceSpan, 'from' | 'to'> & {
    readonly since: string | undefined
    readonly nowMs: number
  },
) {
  const to = new Date(nowMs)
  const from = new Date(nowMs - (msOfDuration(since, ENERGY_SINCE) ?? 0))
  const rows = await inSnapshot(state, (snapshot) =>
    sumResource(snapshot, { ...of, from, to }, 'hour'),
  )
  return { from: from.toISOString(), to: to.toISOString(), ...shownEnergy(rows) }
}
