// A spend while it runs: what it measured, what it holds, and when it must stop. Billing makes its charge.
import type { Bag } from '#base/bag.ts'
import { invariant, type ErgonError } from '#base/errors.ts'
import { newIdBody } from '#base/ids.ts'
import { add, energyOfCpu, larger, nj, smaller, type Nj } from '#base/units.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import type { OperationName } from '#contract/operations.ts'
import type { JoinedThread } from '#metering/marks.ts'
import type { TailClass } from '#metering/tail.ts'
import { addBilled, NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import type { Billable, Billing } from './billing.ts'
import type { ChargingDeps } from './charging-deps.ts'
import { estimateOf } from './estimate-of.ts'
import { silent } from './faults.ts'
import { growHold, type GrowingSpend } from './grow-hold.ts'
import { Hold } from './hold.ts'
import type { Recorded } from './journal.ts'
import type { CausingWork } from './indirect.ts'
import { Measure } from './measure.ts'
import type { Estimate, Payer, Served, Span, Spend, Claim } from './spend.ts'

// Held at first: some hundred tokens of a small model. It doubles while the spend goes on.
const FIRST_HOLD_NJ = nj(5_000_000_000n)
// Ceiling of the gateway's own work on a whole answer: 0.3 s of CPU.
const REPLY_NJ = nj(1_000_000_000n)
const NONE = nj(0n)

/** Dependencies that all spends of a process share. */
export type SpendDeps = ChargingDeps & {
  readonly billing: Billing
  readonly running: Bag<OpenSpend>
}

export class OpenSpend implements Spend, Billable, GrowingSpend {
  readonly requestId: string
  readonly receiptId: string
  readonly measure = new Measure()
  readonly facts: Served = {}
  fromMs: number
  /** The operation of its first payer, from the first admit on. */
  operation: OperationName = 'service.nobody'
  units = 0
  takenNs = 0n
  tail: TailClass = 0
  cutReason: Spend['cutReason']
  /** In the bag of running spends. */
  place = 0
  settled: Charge | undefined
  readonly #deps: SpendDeps
  readonly #past: Span | undefined
  #toMs: number | undefined
  #abort: AbortController | undefined
  #onCut: ((reason: NonNullable<Spend['cutReason']>) => void) | undefined
  #hold: Hold | undefined
  /** The greatest ceiling that it was admitted with; the hold's cap adds what it may cause elsewhere. */
  #ceilingNj = NONE
  lookedNj = NONE
  isGrowing = false
  isCutUnpaid = false
  #isWhole = false
  /** A whole answer used more than its hold, and the ledger did not grant all of the rest. */
  #isRefused = false

  constructor(deps: SpendDeps, span?: Span) {
    this.#deps = deps
    this.#past = span
    this.fromMs = span?.fromMs ?? deps.clock.wallMs()
    this.#toMs = span?.toMs
    const body = newIdBody(this.fromMs)
    this.requestId = `req_${body}`
    this.receiptId = `rcpt_${body}`
    deps.running.add(this)
  }

  get cut(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.cutReason !== undefined) this.#abort.abort(this.cutReason)
    }
    return this.#abort.signal
  }
  get payer(): Payer | undefined {
    return this.#hold?.payer
  }
  get toMs(): number {
    return this.#toMs ?? this.#deps.clock.wallMs()
  }

  admit(payer: Payer, operation: OperationName, ceiling: Nj, least = NONE): void | Promise<void> {
    invariant(ceiling > 0n, 'a ceiling of nothing admits nothing')
    // The first one stays, as it was then: the hold is of its wallet and in that wallet's unit.
    const { funded } = this.payer ?? payer
    // While the books do not add up nobody is billed; the free tier goes on.
    if (funded && this.#deps.session.latest?.halted === true) throw silent()
    const hold = (this.#hold ??= new Hold(
      this.#deps,
      payer,
      this.#deps.billing.terms(),
      this.#past,
    ))
    this.operation = operation
    this.#ceilingNj = larger(this.#ceilingNj, ceiling)
    hold.capNj = larger(hold.capNj, add(this.#ceilingNj, this.#indirectCeiling(hold)))
    const needed = larger(LEAST_HOLD_NJ, add(this.measured(), least))
    const wished = larger(this.#deps.aheadNj ?? FIRST_HOLD_NJ, needed)
    if (hold.begin(wished, needed)) return undefined
    return hold.wait(wished, this.cut, needed).then(() => {
      if (!hold.reach(least)) throw hold.refusal()
    })
  }

  cover(): boolean {
    const hold = this.#paying
    return hold !== undefined && hold.reach(hold.capNj)
  }

  cutWhereUnpaid(): void {
    this.isCutUnpaid = true
    this.#grow()
  }

  /** Takes the hold up to an energy at once; false, and nothing taken, when the leases cannot. */
  reach(energy: Nj): boolean {
    return this.#paying?.reach(energy) ?? false
  }

  /** Takes all that the leases have, at once; false when one of them has nothing. */
  takeLeft(): boolean {
    return this.#hold?.takeLeft() ?? false
  }

  /**
   * Takes the hold up to an energy (the whole cap by default), or to the rest of the wallets; true when it is whole.
   * For a spend whose energy is known before it is claimed. Throws state_unavailable.
   */
  async fill(energy?: Nj): Promise<boolean> {
    const hold = this.#paying
    invariant(hold !== undefined, 'a spend is admitted before it is filled')
    const wished = energy ?? hold.capNj
    if (hold.reach(wished)) return true
    await hold.wait(wished, this.cut)
    return hold.reach(wished)
  }

  /** Another session wants what is not used of the wallet or of a budget. */
  get isWanted(): boolean {
    return this.#paying?.isWanted ?? false
  }

  /** Gives back what is held beyond an energy, for another session. */
  keep(energy: Nj): void {
    this.#paying?.keep(larger(energy, this.measured()))
  }

  /** The energy that is held. */
  get coveredNj(): Nj {
    return this.#paying?.coveredNj ?? NONE
  }

  /** Why no more can be held. */
  get refusal(): ErgonError {
    return this.#admitted.refusal()
  }

  /** The charge is of this span. */
  happened({ fromMs, toMs }: Span): void {
    this.fromMs = fromMs
    this.#toMs = toMs
  }

  /** Moves what it holds to the wallets of the day of this time; false where they have less than this energy. */
  followDay(toMs: number, least: Nj): boolean {
    return this.#paying?.followDay(toMs, least) ?? true
  }

  /** True where the wallets of a later day are there, and have less than this energy. */
  isShortLater(least: Nj): boolean {
    return this.#paying?.isShortLater(least) ?? false
  }

  /** Ends it without a charge: what it held goes back. */
  drop(): void {
    this.#deps.running.delete(this)
    if (this.settled !== undefined) return
    this.#hold?.end()
    this.#hold = undefined
  }

  mark(): void {
    this.#deps.marks.markLater(this.measure)
    if (this.#hold !== undefined && this.measure.cpuNs > this.#hold.halfCpuNs) this.#grow()
  }

  /** A read of its body has ended. */
  markRead(): void {
    const { marks } = this.#deps
    marks.markRead(this.settled === undefined ? this.measure : marks.operator)
  }

  claimThread(thread: JoinedThread, cpuNs: number): void {
    thread.claim(this.measure, cpuNs)
  }

  claim(used: Claim): void {
    this.#measure(used)
    this.#grow()
  }

  countUnits(count: number, elapsedMs: number): void {
    const hold = this.#paying
    if (hold === undefined || this.settled !== undefined) return
    this.units += count
    const ceilingNj = this.#indirectCeiling(hold)
    hold.capNj = larger(hold.capNj, add(this.#ceilingNj, ceilingNj))
    // The operator pays what the wallet cannot hold by now: the work is done.
    hold.reach(add(this.measured(), ceilingNj))
    const { indirect } = this.#deps.billing
    const done = { count, elapsedMs }
    this.takenNs = indirect.grow(hold.terms.tariff, this.operation, done, this.#causing)
  }

  finish(used?: Claim): void | Promise<void> {
    this.#isWhole = true
    if (used !== undefined) this.#measure(used)
    const measured = this.measured()
    const wished = add(measured, REPLY_NJ)
    const hold = this.#admitted
    if (hold.isBehind(this.toMs)) hold.followDay(this.toMs, smaller(measured, hold.coveredNj))
    if (this.#isRefused || hold.begin(wished, measured)) return undefined
    const asked = () => void (this.#isRefused = !hold.reach(measured))
    return hold.wait(wished, this.cut, measured).then(asked, asked)
  }

  absorb(): void {
    if (this.settled !== undefined || !this.measure.absorb(this.#admitted.terms.tariff)) return
    this.served({ promptTokens: undefined, completionTokens: undefined })
  }

  measured(): Nj {
    return this.measure.energy(this.#admitted.terms.tariff)
  }

  served(facts: Served): void {
    Object.assign(this.facts, facts)
  }

  estimate(): Estimate {
    const { operation, facts } = this
    const hold = this.#admitted
    const { indirect } = this.#deps.billing
    const { bandPct } = indirect.of(hold.terms.tariff, operation, this.#causing)
    const { gpuKnown } = this.measure
    return estimateOf(hold, { operation, facts, learnedPct: bandPct, gpuKnown })
  }

  get ceilingNj(): Nj {
    return this.#ceilingNj
  }

  bound(restNj: Nj): void {
    this.#deps.marks.mark(this.measure)
    const hold = this.#admitted
    hold.toldNj = add(add(this.measured(), restNj), this.#indirectCeiling(hold))
  }

  onCut(act: (reason: NonNullable<Spend['cutReason']>) => void): void {
    this.#onCut = act
  }

  /** Cuts with a reason; the first one counts. */
  stop(reason: NonNullable<Spend['cutReason']>): void {
    if (this.cutReason !== undefined || this.settled !== undefined) return
    this.cutReason = reason
    this.#abort?.abort(reason)
    this.#onCut?.(reason)
  }

  announce(status: number): void {
    const hold = this.#paying
    if (hold === undefined || this.settled !== undefined) return
    hold.lookAtFunds()
    this.#deps.billing.announce(this, status, hold)
  }

  settle(status: number, tail: TailClass = 0): Charge {
    if (this.settled !== undefined) return this.settled
    this.#deps.marks.mark(this.measure)
    return this.#bill(status, tail)
  }

  settleAtTurnEnd(status: number, tail: TailClass = 0): Promise<Charge> {
    return new Promise((resolve, reject) =>
      this.#deps.marks.markAtTurnEnd(this.measure, () => {
        try {
          const charge = this.settled ?? this.#bill(status, tail)
          this.recorded((failure) =>
            failure === undefined ? resolve(charge) : reject(failure.error),
          )
        } catch (error) {
          reject(error)
        }
      }),
    )
  }

  /** Makes the charge of all that was measured. */
  #bill(status: number, tail: TailClass): Charge {
    const { running, billing } = this.#deps
    running.delete(this)
    this.tail = tail
    const hold = this.#paying
    // An admit may still be waiting: it takes nothing any more.
    if (hold === undefined) this.#hold?.end()
    else if (hold.isBehind(this.toMs))
      hold.followDay(this.toMs, smaller(this.measured(), hold.coveredNj))
    this.settled =
      hold === undefined ? billing.refuse(this, status) : billing.settle(this, status, hold)
    return this.settled
  }

  recorded(tell: Recorded): void {
    this.#deps.session.recorded(tell)
  }

  /** After the reply is written: what the writing cost trains the tail of its class. */
  written(): void {
    this.#deps.billing.written(this)
  }

  get isPaid(): boolean {
    return this.#paying !== undefined
  }

  get billed(): Billed {
    const hold = this.#paying
    if (hold === undefined) return NOTHING_BILLED
    const { tariff } = hold.terms
    const own = {
      chargedNs: this.measure.totalCpuNs() + this.takenNs,
      accruedNj: smaller(
        add(
          this.measure.billed(tariff, hold.billableNj).nodeNj,
          energyOfCpu(this.takenNs, tariff.njPerCpuS),
        ),
        hold.billableNj,
      ),
    }
    return addBilled(own, this.measure.absorbedCells)
  }

  get billedGpu(): (readonly [cell: string, billed: Billed])[] {
    const hold = this.#paying
    if (hold === undefined) return []
    const own = this.measure.billedGpu(hold.terms.tariff, hold.billableNj)
    return [...own, ...this.measure.absorbedGpu]
  }

  /** The most that it can be billed for the CPU that it causes in shared cells. */
  #indirectCeiling({ terms: { tariff } }: Hold): Nj {
    const { indirect } = this.#deps.billing
    const ceilingNs = indirect.ceilingNs(tariff, this.operation, this.#causing)
    return energyOfCpu(ceilingNs, tariff.njPerCpuS)
  }

  get #causing(): CausingWork {
    return { ownNs: this.measure.cpuNs, units: this.units, takenNs: this.takenNs }
  }

  /** Its hold grows no more. */
  get isOver(): boolean {
    return this.#isWhole || this.settled !== undefined
  }

  get #admitted(): Hold {
    invariant(this.#hold !== undefined, 'a spend has terms from its first admit')
    return this.#hold
  }

  isHeldBy(hold: Hold): boolean {
    return this.#hold === hold
  }

  #measure(used: Claim): void {
    this.measure.claim(used, this.#deps.billing.lastTerms().tariff.gpu)
  }

  #grow(): void {
    const hold = this.#paying
    if (hold !== undefined) growHold(this, hold, this.#deps.aheadNj)
  }

  /** The hold that pays; undefined where no hold does. */
  get #paying(): Hold | undefined {
    return this.#hold?.isEmpty === false ? this.#hold : undefined
  }
}
