// A damaged bundle, as its readers meet it: a code for the caller, and an alarm for the operator. Readers throw it from
// snapshots, which cannot write, so the alarm is raised where the request ends.
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { ERRORS } from '#contract/errors.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { Queryable } from '#state/connect.ts'

/** Where the damage is: null where it is in the sums of all bundles of the account. */
type DamagePlace = { readonly account: string; readonly firstSeq: string | null }

/** A bundle that cannot be read. */
export class DamagedBundle extends ErgonError {
  readonly place: DamagePlace
  readonly why: string

  constructor(place: DamagePlace, why: string) {
    const { status } = ERRORS.charges_damaged
    super(
      { code: 'charges_damaged', status },
      'Could not read old charges: their bytes are damaged',
      { cause: why },
    )
    this.place = place
    this.why = why
  }
}

/** Raises the alarm of a damage, however many meet it; true the first time. */
export const alarmOfDamage = (
  state: Queryable,
  { account, firstSeq }: DamagePlace,
  why: string,
): Promise<boolean> =>
  raiseAlarm(
    state,
    'bundle_damaged',
    { account, first_seq: firstSeq, why },
    { key: `${account}:${firstSeq}:${why}` },
  )

/** Alarms the operator of damage that requests failed by. */
export function createDamageWatch({ state, log }: { state: Queryable; log: Logger }) {
  async function tell({ place, why }: DamagedBundle): Promise<void> {
    if (await alarmOfDamage(state, place, why))
      log.error('A bundle of old charges is damaged', { ...place, why })
  }
  return {
    /** Takes the error of a request. */
    see(thrown: unknown): void {
      if (thrown instanceof DamagedBundle)
        tell(thrown).catch((error: unknown) => log.error('An alarm was not raised', { error }))
    },
  }
}
