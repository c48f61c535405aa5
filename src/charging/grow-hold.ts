// The growth of a hold while its spend goes on.
import { add, nj, smaller, subtract, type Nj } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import { isDepleted, isExhausted, silent } from './faults.ts'
import type { Hold } from './hold.ts'
import type { Measure } from './measure.ts'
import type { Spend } from './spend.ts'

const CLAIMS_AHEAD = 4n
// All that was measured, as a multiple of the ceiling: beyond it is no noise. Twenty runnable processes made
// an honest answer of 1 J take 1.9 J; a body in HTTP chunks of one byte took 34 J of 1.07 J.
const NOISE_TIMES = 4n

export type GrowingSpend = Pick<Spend, 'cut'> & {
  /** The measured energy when the hold was last checked. */
  lookedNj: Nj
  /** More is asked for. */
  isGrowing: boolean
  readonly isOver: boolean
  /** Its body is none that is answered unpaid. */
  readonly isCutUnpaid: boolean
  readonly operation: OperationName
  readonly measure: Pick<Measure, 'claimedEnergy'>
  readonly toMs: number
  measured(): Nj
  isHeldBy(hold: Hold): boolean
  stop(reason: NonNullable<Spend['cutReason']>): void
}

/**
 * Grows the hold while leases allow; cuts only when they cannot and the hold is used up. `mostAheadNj` is the energy to hold
 * beyond the use; undefined: as much as was used, three times.
 */
export function growHold(spend: GrowingSpend, hold: Hold, mostAheadNj: Nj | undefined): void {
  if (spend.isGrowing || spend.isOver) return
  const measured = spend.measured()
  const aheadNj = aheadOf(spend, hold, { measured, mostAheadNj })
  if ((hold.coveredNj - measured) * 3n > aheadNj) return
  // This process's own CPU rises with other load of the machine, and no caller can lower it. The operator pays the
  // part beyond the ceiling that may be noise.
  const claimed = spend.measure.claimedEnergy(hold.terms.tariff)
  if (claimed >= hold.capNj || measured >= hold.capNj * NOISE_TIMES)
    return spend.stop(fault('ceiling_reached', 'Could not go on: the work used its ceiling'))
  // The head has said so: money that has come since then is for later work.
  if (hold.fundsNj !== undefined && measured >= hold.fundsNj) {
    hold.takeLeft()
    return spend.stop(hold.refusal())
  }
  const wished = add(measured, aheadNj)
  if (hold.isBehind(spend.toMs)) hold.followDay(spend.toMs, smaller(measured, hold.coveredNj))
  if (hold.reach(wished)) return
  spend.isGrowing = true
  void hold
    .wait(wished, spend.cut)
    // The ledger is away: the spend goes on inside its hold, and more is asked for at the next claim.
    .then(
      () => cutWhenUsedUp(spend, hold, hold.refusal()),
      () => cutWhenUsedUp(spend, hold, silent()),
    )
    .finally(() => (spend.isGrowing = false))
}

function cutWhenUsedUp(
  spend: GrowingSpend,
  hold: Hold,
  reason: NonNullable<Spend['cutReason']>,
): void {
  if (!spend.isHeldBy(hold) || spend.isOver || spend.measured() < hold.coveredNj) return
  if (hold.takeLeft()) return
  // An operation that is answered unpaid is not cut when the wallet or the budget is empty.
  const { answeredUnpaid, answeredExhausted } = operationOf(spend.operation)
  const goesOn = isDepleted(reason)
    ? answeredUnpaid !== undefined && !spend.isCutUnpaid
    : answeredExhausted !== undefined && isExhausted(reason)
  if (!goesOn) spend.stop(reason)
}

/**
 * The energy to hold beyond the use. While another session wants of it, long work keeps four times what it used since
 * the last claim, at most.
 */
function aheadOf(
  spend: Pick<GrowingSpend, 'lookedNj'>,
  hold: Hold,
  { measured, mostAheadNj }: { readonly measured: Nj; readonly mostAheadNj: Nj | undefined },
): Nj {
  if (mostAheadNj === undefined) return nj(measured * 3n)
  const sinceNj = subtract(measured, smaller(measured, spend.lookedNj))
  spend.lookedNj = measured
  if (!hold.isWanted) return mostAheadNj
  const neededNj = smaller(mostAheadNj, add(LEAST_HOLD_NJ, nj(sinceNj * CLAIMS_AHEAD)))
  hold.keep(add(measured, neededNj))
  return neededNj
}
