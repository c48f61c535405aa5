// One piece of work, from open to settle: the implementation of Spend.
import type { Bag } from '#base/bag.ts'
import { invariant } from '#base/errors.ts'
import { newIdBody } from '#base/ids.ts'
import { add, energyOfCpu, larger, nj, priceOf, pusd, smaller, type Nj } from '#base/units.ts'
import { LEARNED, type Charge, type ChargePart } from '#contract/charge.ts'
import { fault } from '#contract/errors.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import type { JoinedThread } from '#metering/marks.ts'
import type { TailClass, Tails } from '#metering/tail.ts'
import { addBilled, NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import { chargeText } from './charge-text.ts'
import type { ChargingDeps } from './charging-deps.ts'
import { composeCharge, energyOf, fixedTier, type Finished, type Terms } from './compose-charge.ts'
import { depleted, isDepleted, silent } from './faults.ts'
import { Hold } from './hold.ts'
import type { Recorded } from './journal.ts'
import { Measure } from './measure.ts'
import { bandOf, type IndirectBills } from './indirect.ts'
import { NOBODY, type Refusals } from './refusals.ts'
import type { Estimate, Payer, Served, Span, Spend, Used } from './spend.ts'

// Held at first: some hundred tokens of a small model. It doubles while the work goes on.
const FIRST_HOLD_NJ = nj(5_000_000_000n)
// What the gateway may still use of a whole answer: 0.3 s of CPU.
const REPLY_NJ = nj(1_000_000_000n)
// All that was measured, as a multiple of the ceiling: beyond it is no noise. Twenty runnable processes made
// an honest answer of 1 J take 1.9 J; a body in HTTP chunks of one byte took 34 J of 1.07 J.
const NOISE_TIMES = 4n
const NONE = nj(0n)

/** What all work of a process shares. */
export type Floor = ChargingDeps & {
  readonly tails: Tails
  readonly refusals: Refusals
  readonly indirect: IndirectBills
  readonly running: Bag<Work>
  /** Of all settled work. */
  settled: Billed
  /** Today's terms; throws state_unavailable when the state was silent for too long. */
  terms(): Terms
  /** The last terms known. */
  lastTerms(): Terms
}

export class Work implements Spend {
  readonly requestId: string
  readonly receiptId: string
  readonly #floor: Floor
  readonly #fromMs: number
  readonly #toMs: number | undefined
  readonly #measure = new Measure()
  readonly #abort = new AbortController()
  readonly #tailOwner = { cpuNs: 0 }
  #operation: OperationName = 'service.nobody'
  /** Of its first payer, from the first admit on. */
  #hold: Hold | undefined
  #growing = false
  #isWhole = false
  /** What whole work used beyond the hold was asked for, and not all of it granted. */
  #isRefused = false
  readonly #served: Served = {}
  #tail: TailClass = 0
  cutReason: Spend['cutReason']
  /** In the bag of what runs. */
  place = 0
  settled: Charge | undefined

  constructor(floor: Floor, span?: Span) {
    this.#floor = floor
    this.#fromMs = span?.fromMs ?? floor.clock.wallMs()
    this.#toMs = span?.toMs
    const body = newIdBody(this.#fromMs)
    this.requestId = `req_${body}`
    this.receiptId = `rcpt_${body}`
    floor.running.add(this)
    this.mark()
  }

  get cut(): AbortSignal {
    return this.#abort.signal
  }
  get payer(): Payer | undefined {
    return this.#hold?.payer
  }

  admit(payer: Payer, operation: OperationName, ceiling: Nj, least = NONE): void | Promise<void> {
    invariant(ceiling > 0n, 'a ceiling of nothing admits nothing')
    // The first one stays, as it was then: the hold is of its wallet and in that wallet's unit.
    const { funded } = this.payer ?? payer
    // While the books do not add up nobody is billed; the free tier goes on.
    if (funded && this.#floor.session.latest?.halted === true) throw silent()
    const hold = (this.#hold ??= new Hold(this.#floor, payer, this.#floor.terms()))
    this.#operation = operation
    hold.capNj = larger(hold.capNj, add(ceiling, this.#indirectCeiling(hold)))
    const wished = larger(FIRST_HOLD_NJ, add(this.measured(), least))
    if (hold.reach(wished)) return undefined
    return hold.wait(wished, this.cut).then(() => {
      if (!hold.reach(least)) throw depleted(hold.payer)
    })
  }

  cover(): boolean {
    const hold = this.#paying
    return hold !== undefined && hold.reach(hold.capNj)
  }

  /**
   * Takes the hold up to the whole cap, or to what is left of the wallet; says whether it is whole. For
   * work whose energy is known before it is claimed. Throws state_unavailable.
   */
  async fill(): Promise<boolean> {
    if (this.cover()) return true
    const hold = this.#paying
    invariant(hold !== undefined, 'work is admitted before it is filled')
    await hold.wait(hold.capNj, this.cut)
    return this.cover()
  }

  /** Ends work without a charge: what it held goes back. */
  drop(): void {
    this.#floor.running.delete(this)
    if (this.settled !== undefined) return
    this.#hold?.end(0n)
    this.#hold = undefined
  }

  mark(): void {
    this.#floor.marks.mark(this.#measure)
    if (this.#hold !== undefined && this.#measure.cpuNs > this.#hold.halfCpuNs) this.#grow()
  }

  claimThread(thread: JoinedThread, cpuNs: number): void {
    thread.claim(this.#measure, cpuNs)
  }

  claim(used: Used): void {
    this.#measure.claim(used)
    this.#grow()
  }

  finish(used: Used): void | Promise<void> {
    this.#isWhole = true
    this.#measure.claim(used)
    const wished = add(this.measured(), REPLY_NJ)
    const hold = this.#admitted
    if (this.#isRefused || hold.reach(wished)) return undefined
    const asked = () => void (this.#isRefused = !hold.reach(wished))
    return hold.wait(wished, this.cut).then(asked, asked)
  }

  forgive(): void {
    if (this.settled !== undefined || !this.#measure.forgive(this.#admitted.terms.tariff)) return
    this.served({ promptTokens: undefined, completionTokens: undefined })
  }

  measured(): Nj {
    return this.#measure.energy(this.#admitted.terms.tariff)
  }

  served(facts: Served): void {
    Object.assign(this.#served, facts)
  }

  estimate(): Estimate {
    const { ceilingNj, terms } = this.#admitted
    const { tariff } = terms
    const node = { method: tariff.method, bandPct: Number(tariff.bandPct) }
    const { upstream = node } = this.#served
    const learned = { method: LEARNED, bandPct: bandOf(tariff, this.#operation) } as const
    const { method, bandPct } = [upstream, learned].reduce(
      (a, b) => (b.bandPct > a.bandPct ? b : a),
      node,
    )
    const elsewhere = this.#served.upstream?.factor ?? tariff.factor
    const isWorse = BigInt(elsewhere.mg_per_kwh) > BigInt(tariff.factor.mg_per_kwh)
    return {
      ceilingNj,
      factor: isWorse ? elsewhere : tariff.factor,
      routedTo: this.#served.routedTo ?? tariff.routedTo,
      tier: this.#served.tier ?? fixedTier(this.#operation),
      energyMethod: `${method}; band=${bandPct}%`,
    }
  }

  bound(restNj: Nj): void {
    this.mark()
    const hold = this.#admitted
    hold.toldNj = add(add(this.measured(), restNj), this.#indirectCeiling(hold))
  }

  /** Fires `cut` with a reason; the first one counts. */
  stop(reason: NonNullable<Spend['cutReason']>): void {
    if (this.cutReason !== undefined || this.settled !== undefined) return
    this.cutReason = reason
    this.#abort.abort(reason)
  }

  announce(status: number): void {
    const hold = this.#paying
    if (hold === undefined || this.settled !== undefined) return
    this.mark()
    hold.lookAtFunds()
    this.#floor.session.provisional(this.receiptId, () => {
      const { charge, debit } = this.#bill(status, hold)
      return { bytes: chargeText(charge), debits: [debit] }
    })
  }

  settle(status: number, tail: TailClass = 0): Charge {
    if (this.settled !== undefined) return this.settled
    this.#floor.marks.mark(this.#measure)
    this.#floor.running.delete(this)
    this.#tail = tail
    const hold = this.#paying
    // An admit may still be waiting: it takes nothing any more.
    if (hold === undefined) this.#hold?.end(0n)
    this.settled = hold === undefined ? this.#refuse(status) : this.#charge(status, hold)
    return this.settled
  }

  recorded(tell: Recorded): void {
    this.#floor.session.recorded(tell)
  }

  /** After the reply is written: what the writing cost trains the tail of its class. */
  written(): void {
    this.#floor.marks.mark(this.#tailOwner)
    if (this.#paying !== undefined)
      this.#floor.tails.learn(this.#operation, this.#tail, this.#tailOwner.cpuNs)
  }

  get #isOver(): boolean {
    return this.#isWhole || this.settled !== undefined
  }

  get #admitted(): Hold {
    invariant(this.#hold !== undefined, 'work has terms from its first admit')
    return this.#hold
  }

  /** Without one nobody pays. */
  get #paying(): Hold | undefined {
    return this.#hold?.isEmpty === false ? this.#hold : undefined
  }

  /** Doubles the hold while leases allow; cuts only when they cannot and the hold is used up. */
  #grow(): void {
    const hold = this.#paying
    if (hold === undefined || this.#growing || this.#isOver) return
    const measured = this.measured()
    if (measured * 2n < hold.coveredNj) return
    // This process's own CPU rises with what else runs here and no caller can lower it: beyond the ceiling
    // it is the operator's, as far as that can be noise.
    const claimed = this.#measure.claimedEnergy(hold.terms.tariff)
    if (claimed >= hold.capNj || measured >= hold.capNj * NOISE_TIMES)
      return this.stop(fault('ceiling_reached', 'Could not go on: the work used its ceiling'))
    // The head has said so: money that has come since then is for later work.
    if (hold.fundsNj !== undefined && measured >= hold.fundsNj) {
      hold.takeLeft()
      return this.stop(depleted(hold.payer))
    }
    const wished = nj(measured * 4n)
    if (hold.reach(wished)) return
    this.#growing = true
    const cutWhenUsedUp = (reason: NonNullable<Spend['cutReason']>) => {
      if (this.#hold !== hold || this.#isOver || this.measured() < hold.coveredNj) return
      if (hold.takeLeft()) return
      // What is answered unpaid is not cut for what it costs beyond the last of a wallet.
      if (operationOf(this.#operation).answeredUnpaid !== true || !isDepleted(reason))
        this.stop(reason)
    }
    void hold
      .wait(wished, this.cut)
      // The ledger is away: the work goes on inside its hold, and more is asked for at the next claim.
      .then(
        () => cutWhenUsedUp(depleted(hold.payer)),
        () => cutWhenUsedUp(silent()),
      )
      .finally(() => (this.#growing = false))
  }

  #charge(status: number, hold: Hold): Charge {
    const { session } = this.#floor
    const { charge, tailNs, indirect, debit } = this.#bill(status, hold)
    session.append('charge', chargeText(charge), [debit])
    session.settled(this.receiptId)
    hold.end(debit.amount)
    this.#floor.indirect.settled(this.#operation, indirect, indirect.cpuNs)
    this.#count(this.#measure.totalCpuNs() + tailNs + indirect.cpuNs, charge.parts)
    this.#bear(status, hold.terms)
    return charge
  }

  /** What was forgiven is a charge too: an upstream's meter reads what charges say of it. */
  #bear(status: number, terms: Terms): void {
    const parts = this.#measure.borneParts(terms.tariff)
    if (parts.length === 0) return
    this.#floor.settled = addBilled(this.#floor.settled, this.#measure.borneCells)
    const receipt = `rcpt_${newIdBody(this.#floor.clock.wallMs())}`
    const charge = this.#compose(status, {
      payer: NOBODY,
      terms,
      parts,
      cost: pusd(0n),
      ids: { receipt, request: this.requestId },
      served: {},
    })
    this.#floor.session.append('charge', chargeText(charge), [])
  }

  /** What the work costs when it ends now. */
  #bill(status: number, hold: Hold) {
    const { payer, terms } = hold
    const tailNs = BigInt(this.#floor.tails.expectedNs(this.#operation, this.#tail))
    const indirect = this.#floor.indirect.of(terms.tariff, this.#operation)
    const parts = this.#measure.parts(terms.tariff, { tailNs, indirect }, hold.billableNj)
    const energy = energyOf(parts)
    const cost = payer.funded ? priceOf(energy, terms.pusdPerJ) : pusd(0n)
    const debit = hold.debit(payer.funded ? cost : energy)
    return { charge: this.#compose(status, { payer, terms, parts, cost }), tailNs, indirect, debit }
  }

  /** The most that it can be billed for what it causes in cells that serve all requests. */
  #indirectCeiling({ terms: { tariff } }: Hold): Nj {
    return energyOfCpu(this.#floor.indirect.ceilingNs(tariff, this.#operation), tariff.njPerCpuS)
  }

  /** Adds to what the node's meter is held against: the parts that are the node's. */
  #count(chargedNs: bigint, parts: readonly ChargePart[]): void {
    const [own, ...others] = parts
    const accruedNj = energyOf([...(own ? [own] : []), ...others.filter(isLearned)])
    this.#floor.settled = addBilled(this.#floor.settled, { chargedNs, accruedNj })
  }

  /** What this work will be billed of the node's energy, while it runs; nothing without a hold. */
  get billed(): Billed {
    const hold = this.#paying
    if (hold === undefined) return NOTHING_BILLED
    const own = {
      chargedNs: this.#measure.totalCpuNs(),
      accruedNj: smaller(this.#measure.nodeEnergy(hold.terms.tariff), hold.billableNj),
    }
    return addBilled(own, this.#measure.borneCells)
  }

  /** Work of nobody, paid by the operator: its share of a charge. */
  #refuse(status: number): Charge {
    const { refusals, clock } = this.#floor
    const ids = { receipt: this.receiptId, request: this.requestId }
    const toMs = this.#toMs ?? clock.wallMs()
    const { cpuNs } = this.#measure
    const charge = refusals.share({ ids, status, fromMs: this.#fromMs, toMs, cpuNs })
    // What it causes elsewhere is the operator's too: counted, so that nobody else is billed for that.
    const { indirect } = this.#floor
    const caused = indirect.of(this.#floor.lastTerms().tariff, 'service.nobody')
    indirect.settled('service.nobody', caused, 0n)
    return charge
  }

  #compose(
    status: number,
    bill: Pick<Finished, 'payer' | 'terms' | 'parts' | 'cost'> &
      Partial<Pick<Finished, 'ids' | 'served'>>,
  ): Charge {
    const { session, clock } = this.#floor
    return composeCharge({
      ids: { receipt: this.receiptId, request: this.requestId },
      served: this.#served,
      ...bill,
      record: { session: session.id, seq: session.nextSeq },
      operation: bill.payer === NOBODY ? 'service.nobody' : this.#operation,
      status,
      fromMs: this.#fromMs,
      toMs: this.#toMs ?? clock.wallMs(),
    })
  }
}

const isLearned = (part: ChargePart): boolean => part.method === LEARNED
