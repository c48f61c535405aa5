// Where a joule becomes money, and the only place. Every door opens a Spend, admits it against leases,
// marks what it burns and settles it once; the settled charge is journaled before its figures leave.
//
//   open ── admit ── mark, claim … ── settle ⇒ journal ⇒ tick ⇒ ledger
//
// settle bills min(measured, held): an account cannot be overdrawn whatever fails.
import { Bag } from '#base/bag.ts'
import { InvariantError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { createTails } from '#metering/tail.ts'
import type { TickResult } from '#ledger/tick.ts'
import type { Activity } from '#metering/indirect.ts'
import { addBilled, NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import type { Terms } from './compose-charge.ts'
import { IndirectBills } from './indirect.ts'
import { Refusals } from './refusals.ts'
import { readTariff } from './tariff.ts'
import type { ChargingDeps } from './charging-deps.ts'
import { silent } from './faults.ts'
import type { Span } from './spend.ts'
import { Work, type Floor } from './work.ts'

export interface Charging {
  /**
   * Starts a piece of work; its CPU is counted from here, and is the operator's until it is admitted.
   * Its charge says when it was open, or the span that is given.
   */
  open(span?: Span): Work
  /** After each tick: its CPU was the operator's, and refused requests whose second is over are journaled. */
  ticked(): void
  /** Journals all charges that refused requests share: before the session ends. */
  settleRefusals(): void
  /** Cuts running work of a token that was revoked. */
  revoke(change: { token: string | null; account: string }): void
  /** Cuts everything that still runs: the process is stopping. */
  drain(): void
  readonly running: number
  /** Running totals of what is billed by tariff; see metering/true-up.ts. Neither ever falls. */
  billed(): Billed
  /** What was settled, and billed of indirect CPU: running totals, which never fall. */
  readonly activity: Activity
}

export function createCharging(deps: ChargingDeps): Charging {
  const running = new Bag<Work>()
  // Read once for each tick, not for each request.
  let read: { readonly from: TickResult; readonly terms: Terms } | undefined
  const { session, clock } = deps
  const refusals = new Refusals({ session, clock, terms: () => floor.lastTerms() }, (billed) => {
    floor.settled = addBilled(floor.settled, billed)
  })
  const floor: Floor = {
    ...deps,
    tails: createTails(),
    refusals,
    indirect: new IndirectBills(clock),
    running,
    settled: NOTHING_BILLED,
    terms() {
      if (!deps.session.fresh) throw silent()
      return floor.lastTerms()
    },
    lastTerms() {
      const { latest } = deps.session
      if (latest === undefined) throw silent()
      if (read?.from !== latest) read = { from: latest, terms: readTerms(latest) }
      return read.terms
    },
  }

  return {
    open: (span) => new Work(floor, span),
    ticked() {
      deps.marks.mark(deps.marks.operator)
      try {
        refusals.settle('over')
      } catch (error) {
        // The journal told its owner of an error of the disk, who ends the process.
        if (error instanceof InvariantError) throw error
      }
    },
    settleRefusals: () => refusals.settle('all'),
    revoke(change) {
      const reason = fault('token_revoked', 'Could not go on: the token was revoked')
      for (const work of running)
        if (change.token !== null && work.payer?.token === change.token) work.stop(reason)
    },
    drain() {
      const reason = fault('draining', 'Could not go on: this process is stopping')
      for (const work of running) work.stop(reason)
    },
    get running() {
      return running.size
    },
    get activity() {
      return floor.indirect.activity
    },
    billed() {
      let total = floor.settled
      for (const work of running) total = addBilled(total, work.billed)
      return total
    },
  }
}

const readTerms = ({ tariff, price }: TickResult): Terms => ({
  tariff: readTariff(tariff),
  priceId: price.id,
  pusdPerJ: price.pusdPerJ,
})
