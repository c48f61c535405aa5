// The state of a part of the service in one measurement, and how measurements are put together.

/** The states, the best first. Undefined is not measured, which never counts as working. */
export const STATES = ['ok', 'degraded', 'down'] as const
export type PartState = (typeof STATES)[number]
export type PartMeasure = PartState | undefined

/** The worst of those that were measured. */
export const worst = (measures: readonly PartMeasure[]): PartMeasure =>
  STATES.findLast((state) => measures.includes(state))

/** Requests of a part since the measurement before, and those of them that the service failed. */
export type RequestFailures = { readonly requests: number; readonly failures: number }

/** Fewer failures say nothing: one caller with a request that takes too long must not colour the page. */
const FAILURES_LEAST = 10
const DEGRADED_SHARE = 0.05
const DOWN_SHARE = 0.5

/** The state by the answers of a period; undefined without requests. */
export function ofCounts({ requests, failures }: RequestFailures): PartMeasure {
  if (requests === 0) return undefined
  if (failures < FAILURES_LEAST) return 'ok'
  const share = failures / requests
  if (share >= DOWN_SHARE) return 'down'
  return share >= DEGRADED_SHARE ? 'degraded' : 'ok'
}
