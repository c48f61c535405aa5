// The dependencies of charging on its process.
import type { TimerClock } from '#base/clock.ts'
import type { Nj } from '#base/units.ts'
import type { Marks } from '#metering/marks.ts'
import type { Leases } from './leases.ts'
import type { Session } from './session.ts'

export type ChargingDeps = {
  session: Session
  leases: Leases
  marks: Marks
  clock: TimerClock
  /** The most that running work holds beyond its use. By default a first 5 J, then three times what it has used. */
  aheadNj?: Nj | undefined
}
