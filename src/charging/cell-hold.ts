// The energy that is held ahead for a running cell of an account: of the wallet that pays and of each budget that
// limits, all or none. The use of the cell is charged out of it, so nothing that runs is unpaid while its hold reaches
// further than its use. The guard ends a cell whose hold cannot grow (node/cell-guard.ts).
import { ErgonError } from '#base/errors.ts'
import { add, nj, type Nj } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import type { CellOperation } from '#contract/ledger/cell-operation.ts'
import type { Charging } from './charging.ts'
import { silent } from './faults.ts'
import type { OpenSpend } from './open-spend.ts'
import type { Payer } from './spend.ts'
import { claimsOf, type StandingDue } from './standing.ts'

/** The most of one charge: more than a machine can use in a minute. */
const CEILING_NJ = nj(10n ** 18n)
const NONE = nj(0n)

/** A payer whose budget is the one of this day's energy. */
export type CellPayer = Payer & { readonly njPerDay?: string }

export class CellHold {
  /** The payer from the next charge on. */
  payer: CellPayer
  /** Why it is being ended. */
  unpaid: ErgonError | undefined
  /** It stands still while its clients get their last message. */
  isFrozen = false
  readonly #charging: Pick<Charging, 'open'>
  readonly #operation: CellOperation
  /** In windows, and not charged yet. */
  #measuredNj = NONE
  #work: OpenSpend | undefined
  #filling: Promise<void> | undefined
  /** While it is released: what the hold before covers beyond what is measured. */
  #leftNj: Nj | undefined

  private constructor(
    charging: Pick<Charging, 'open'>,
    payer: CellPayer,
    operation: CellOperation,
  ) {
    this.#charging = charging
    this.#operation = operation
    this.payer = payer
  }

  /**
   * Holds at least this energy. Throws `balance_depleted`, `free_tier_exceeded` or `budget_exhausted` where there is
   * less, and `state_unavailable`.
   */
  static async take(
    charging: Pick<Charging, 'open'>,
    payer: CellPayer,
    leastNj: Nj,
    operation: CellOperation = 'cell.standing',
  ): Promise<CellHold> {
    const hold = new CellHold(charging, payer, operation)
    const work = charging.open()
    try {
      await work.admit(payer, operation, CEILING_NJ, leastNj)
      // A first hold that was there at once may be less.
      if (!(await work.fill(leastNj))) throw work.refusal
    } catch (error) {
      work.drop()
      throw error
    }
    hold.#work = work
    return hold
  }

  get measuredNj(): Nj {
    return this.#measuredNj
  }

  /** A window that ended then has measured this further energy. The hold moves to the wallets of that day. */
  measured(energy: Nj, toMs: number): void {
    this.#measuredNj = add(this.#measuredNj, energy)
    if (this.#leftNj !== undefined) this.#leftNj = nj(this.#leftNj - energy)
    this.#work?.followDay(toMs, this.#measuredNj)
  }

  /** True while this energy beyond the measured one can be paid: it is held then. */
  covers(energy: Nj): boolean {
    if (this.#leftNj !== undefined) return energy <= this.#leftNj
    if (this.#work === undefined) this.#begin()
    return this.#work?.reach(add(this.#measuredNj, energy)) ?? false
  }

  /** Another session wants what is not used of the wallet or of a budget: sessions of a database at a proxy do. */
  get isWanted(): boolean {
    return this.#work?.isWanted ?? false
  }

  /** Gives back all but this energy beyond the measured one. */
  keep(energy: Nj): void {
    this.#work?.keep(add(this.#measuredNj, energy))
  }

  /** Asks the ledger for this energy beyond the measured one; one request at a time. Never rejects. */
  fill(energy: Nj): Promise<void> {
    const work = this.#work
    if (work?.isPaid !== true) return Promise.resolve()
    this.#filling ??= work
      .fill(add(this.#measuredNj, energy))
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => (this.#filling = undefined))
    return this.#filling
  }

  /** Why no more can be held. */
  get refusal(): ErgonError {
    return this.#work === undefined ? silent() : this.#work.refusal
  }

  /**
   * Charges what was measured, at once, and holds anew; false where that is not possible: while the ledger is away.
   * The present hold stays then.
   */
  settle(due: StandingDue, source: EnergyBand & { readonly meter: string }): boolean {
    const work = this.#work
    this.#measuredNj = NONE
    if (work?.isPaid !== true) return false
    if (!work.followDay(due.toMs, due.energyNj)) {
      // Yesterday's hold would pay for no minute of today. While the ledger is away it stays.
      if (work.isShortLater(due.energyNj)) this.end()
      return false
    }
    if (this.#begin() === undefined) return false
    const isWhole = work.reach(due.energyNj)
    if (!isWhole) work.takeLeft()
    const restNj = nj(work.coveredNj - due.energyNj)
    work.happened(due)
    work.served({ resource: due.resource, cell: due.cell })
    for (const claim of claimsOf(due, source)) work.claim(claim)
    work.settle(isWhole ? 200 : 402)
    // The rest, at once: a tick would give it to another session that wants it, and the cell would end.
    if (this.#work?.isPaid === false) this.#work.takeLeft()
    else if (restNj > 0n) this.#work?.reach(restNj)
    return true
  }

  /**
   * Gives back what is held, after `settle` has charged it, while another payer or budget comes into force. Until
   * `regain` it covers what it covered before: else a budget that is changed again and again would limit nothing.
   */
  release(payer: CellPayer, settle: () => void): void {
    const leftNj = nj((this.#work?.coveredNj ?? NONE) - this.#measuredNj)
    this.payer = payer
    settle()
    this.end()
    this.#leftNj = leftNj
  }

  /** Resolves when the new payer holds, or cannot. Never rejects. */
  async regain(): Promise<void> {
    await this.#begin()?.asked
    this.#leftNj = undefined
  }

  /** Gives back what is held. */
  end(): void {
    this.#work?.drop()
    this.#work = undefined
  }

  /** Takes a first hold, or what the leases have left until `asked`; undefined while nobody is admitted. */
  #begin(): { readonly asked: Promise<void> } | undefined {
    const work = this.#charging.open()
    let asked: void | Promise<void>
    try {
      asked = work.admit(this.payer, this.#operation, CEILING_NJ)
      if (asked !== undefined) work.takeLeft()
    } catch (error) {
      work.drop()
      if (!(error instanceof ErgonError)) throw error
      return undefined
    }
    this.#work = work
    // The guard sees the outcome.
    return { asked: Promise.resolve(asked).catch(() => undefined) }
  }
}
