// One piece of work, from open to settle: the implementation of Spend.
import type { Bag } from '#base/bag.ts'
import { invariant, present } from '#base/errors.ts'
import { newIdBody } from '#base/ids.ts'
import {
  add,
  energyFor,
  larger,
  nj,
  priceCeiling,
  priceOf,
  pusd,
  smaller,
  type Nj,
} from '#base/units.ts'
import type { Charge, ChargePart } from '#contract/charge.ts'
import { fault } from '#contract/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import { LEAST_HOLD_NJ } from '#ledger/tick.ts'
import type { JoinedThread } from '#metering/marks.ts'
import type { TailClass, Tails } from '#metering/tail.ts'
import { addBilled, NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import { chargeText } from './charge-text.ts'
import type { ChargingDeps } from './charging-deps.ts'
import { composeCharge, energyOf, fixedTier, type Terms } from './compose-charge.ts'
import { free, type Lease } from './leases.ts'
import { depleted, silent } from './faults.ts'
import { Measure } from './measure.ts'
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
  readonly running: Bag<Work>
  /** Of all settled work. */
  settled: Billed
  /** Today's terms; throws state_unavailable when the state was silent for too long. */
  terms(): Terms
  /** The last terms known: refusals are priced even while the state is away. */
  lastTerms(): Terms
}

/** `paidNj` is the energy that the amount pays for. */
type Hold = { readonly lease: Lease; readonly amount: bigint; readonly paidNj: Nj }

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
  #payer: Payer | undefined
  #terms: Terms | undefined
  #hold: Hold | undefined
  #cap = NONE
  #growing = false
  #isWhole = false
  /** What whole work used beyond the hold was asked for, and not all of it granted. */
  #isRefused = false
  /** CPU of this process at which a mark looks whether the hold must grow. */
  #growAtNs = Number.POSITIVE_INFINITY
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
    return this.#payer
  }

  admit(payer: Payer, operation: OperationName, ceiling: Nj, least = NONE): void | Promise<void> {
    invariant(ceiling > 0n, 'a ceiling of nothing admits nothing')
    // The first one stays, as it was then: the hold is of its wallet and in that wallet's unit.
    const paying = this.#payer ?? payer
    // While the books do not add up nobody is billed; the free tier goes on.
    if (paying.funded && this.#floor.session.latest?.halted === true) throw silent()
    this.#terms ??= this.#floor.terms()
    this.#payer = paying
    this.#operation = operation
    if (ceiling > this.#cap) this.#cap = ceiling
    const wished = larger(FIRST_HOLD_NJ, add(this.measured(), least))
    if (this.#reach(wished)) return undefined
    return this.#wait(wished).then(() => {
      if (!this.#reach(least)) throw depleted(this.#payer)
    })
  }

  cover(): boolean {
    return this.#hold !== undefined && this.#reach(this.#cap)
  }

  /**
   * Takes the hold up to the whole cap, or to what is left of the wallet; says whether it is whole. For
   * work whose energy is known before it is claimed. Throws state_unavailable.
   */
  async fill(): Promise<boolean> {
    if (this.cover()) return true
    invariant(this.#hold !== undefined, 'work is admitted before it is filled')
    await this.#wait(this.#cap)
    return this.cover()
  }

  /** Ends work without a charge: what it held goes back. */
  drop(): void {
    this.#floor.running.delete(this)
    if (this.#hold === undefined || this.settled !== undefined) return
    this.#floor.leases.settle(this.#hold.lease, this.#hold.amount, 0n)
    this.#hold = undefined
  }

  mark(): void {
    this.#floor.marks.mark(this.#measure)
    if (this.#measure.cpuNs > this.#growAtNs) this.#grow()
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
    if (this.#isRefused || this.#reach(wished)) return undefined
    const asked = () => void (this.#isRefused = !this.#reach(wished))
    return this.#wait(wished).then(asked, asked)
  }

  measured(): Nj {
    return this.#measure.energy(this.#agreed.tariff)
  }

  served(facts: Served): void {
    Object.assign(this.#served, facts)
  }

  estimate(): Estimate {
    const { tariff } = this.#agreed
    return {
      ceilingNj: this.#cap,
      factor: tariff.factor,
      routedTo: this.#served.routedTo ?? tariff.routedTo,
      tier: this.#served.tier ?? fixedTier(this.#operation),
      energyMethod: `${tariff.method}; band=${tariff.bandPct}%`,
    }
  }

  /** Fires `cut` with a reason; the first one counts. */
  stop(reason: NonNullable<Spend['cutReason']>): void {
    if (this.cutReason !== undefined || this.settled !== undefined) return
    this.cutReason = reason
    this.#abort.abort(reason)
  }

  promise(status: number): void {
    if (this.#hold === undefined || this.settled !== undefined) return
    this.mark()
    const { charge, debits } = this.#bill(status, this.#hold)
    this.#floor.session.promises.make(this.receiptId, chargeText(charge), debits)
  }

  settle(status: number, tail: TailClass = 0): Charge {
    if (this.settled !== undefined) return this.settled
    this.#floor.marks.mark(this.#measure)
    this.#floor.running.delete(this)
    this.#tail = tail
    this.settled =
      this.#hold === undefined ? this.#refuse(status) : this.#charge(status, this.#hold)
    return this.settled
  }

  durable(): Promise<void> | undefined {
    return this.#floor.synced?.()
  }

  /** After the reply is written: what the writing cost trains the tail of its class. */
  written(): void {
    this.#floor.marks.mark(this.#tailOwner)
    if (this.#hold !== undefined)
      this.#floor.tails.learn(this.#operation, this.#tail, this.#tailOwner.cpuNs)
  }

  get #isOver(): boolean {
    return this.#isWhole || this.settled !== undefined
  }

  /** A hold in the wallet's unit for an energy. */
  #price(energy: Nj): bigint {
    return this.#payer?.funded ? priceCeiling(energy, this.#agreed.pusdPerJ) : energy
  }

  /** The energy that an amount of the wallet's unit pays for. */
  #paid(amount: bigint): Nj {
    return this.#payer?.funded ? energyFor(pusd(amount), this.#agreed.pusdPerJ) : nj(amount)
  }

  /** The energy that a hold covers; what it was rounded up by is not part of the ceiling. */
  #covered(hold: Hold): Nj {
    return smaller(hold.paidNj, this.#cap)
  }

  get #agreed(): Terms {
    invariant(this.#terms !== undefined, 'work has terms from its first admit')
    return this.#terms
  }

  get #want(): string {
    return `${this.#payer?.funded ? 'money' : 'free'}:${this.#payer?.account}`
  }

  get #lease(): Lease | undefined {
    return this.#hold?.lease ?? this.#floor.leases.get(this.#want)
  }

  /** What the hold lacks of an energy, or of the cap when that is less. */
  #missing(energy: Nj): bigint {
    return this.#price(smaller(this.#cap, energy)) - (this.#hold?.amount ?? 0n)
  }

  /** Takes the hold up to an energy at once, when the lease can. */
  #reach(energy: Nj): boolean {
    if (this.settled !== undefined) return true
    const missing = this.#missing(energy)
    return missing <= 0n || this.#take(missing)
  }

  #take(amount: bigint): boolean {
    const lease = this.#lease
    if (lease === undefined || free(lease) < amount) return false
    this.#floor.leases.hold(lease, amount)
    const held = (this.#hold?.amount ?? 0n) + amount
    const hold = { lease, amount: held, paidNj: this.#paid(held) }
    this.#hold = hold
    const { njPerCpuS } = this.#agreed.tariff
    this.#growAtNs = (Number(this.#covered(hold)) / 2 / Number(njPerCpuS)) * 1e9
    return true
  }

  /** Asks the ledger for more, and takes what it gives: all that is missing, or what is left. */
  async #wait(energy: Nj): Promise<void> {
    const { leases, session, clock } = this.#floor
    const late = new AbortController()
    const cancel = clock.setTimer(ADMIT_TIMEOUT_MS, () => late.abort(silent()))
    const signal = AbortSignal.any([this.#abort.signal, late.signal])
    try {
      do {
        leases.ask(this.#lease ?? this.#want, this.#missing(energy))
        await session.tickNow(signal)
        if (this.#reach(energy)) return
        // Others may have taken what we asked for: only the ledger can say that there is no more.
      } while (this.#lease?.dry === false)
    } finally {
      cancel()
    }
    this.#takeRest()
  }

  /** What is left of a wallet that is dry; too little to be worth a hold admits nothing. */
  #takeRest(): void {
    const lease = this.#lease
    const left = lease === undefined ? 0n : free(lease)
    const least = this.#hold === undefined ? this.#price(smaller(this.#cap, LEAST_HOLD_NJ)) : 1n
    if (left >= least) this.#take(left)
    if (this.#hold === undefined) throw depleted(this.#payer)
  }

  /** Doubles the hold while leases allow; cuts only when they cannot and the hold is used up. */
  #grow(): void {
    if (this.#hold === undefined || this.#growing || this.#isOver) return
    const measured = this.measured()
    if (measured * 2n < this.#covered(this.#hold)) return
    // This process's own CPU rises with what else runs here and no caller can lower it: beyond the ceiling
    // it is the operator's, as far as that can be noise.
    const claimed = this.#measure.claimedEnergy(this.#agreed.tariff)
    if (claimed >= this.#cap || measured >= this.#cap * NOISE_TIMES)
      return this.stop(fault('ceiling_reached', 'Could not go on: the work used its ceiling'))
    const wished = nj(measured * 4n)
    if (this.#reach(wished)) return
    this.#growing = true
    void this.#wait(wished)
      // The ledger is away: the work goes on inside its hold, and more is asked for at the next claim.
      .then(
        () => this.#cutWhenUsedUp(depleted(this.#payer)),
        () => this.#cutWhenUsedUp(silent()),
      )
      .finally(() => (this.#growing = false))
  }

  #cutWhenUsedUp(reason: NonNullable<Spend['cutReason']>): void {
    const hold = this.#hold
    if (hold === undefined || this.#isOver || this.measured() < this.#covered(hold)) return
    const left = free(hold.lease)
    if (left === 0n) this.stop(reason)
    else if (!this.cover()) this.#take(left)
  }

  #charge(status: number, hold: Hold): Charge {
    const { leases, session } = this.#floor
    const bill = this.#bill(status, hold)
    session.append('charge', chargeText(bill.charge), bill.debits)
    session.promises.keep(this.receiptId)
    leases.settle(hold.lease, hold.amount, bill.spent)
    this.#count(this.#measure.totalCpuNs() + bill.tailNs, bill.charge.parts)
    return bill.charge
  }

  /** What the work costs when it ends now. */
  #bill(status: number, hold: Hold) {
    const payer = present(this.#payer, 'who holds pays')
    const terms = this.#agreed
    const tailNs = BigInt(this.#floor.tails.expectedNs(this.#operation, this.#tail))
    // A hold of money is rounded up, so it covers a little more than the ceiling that was stated.
    const limit = smaller(this.#covered(hold), this.#cap)
    const parts = this.#measure.parts(terms.tariff, tailNs, limit)
    const energy = energyOf(parts)
    const cost = payer.funded ? priceOf(energy, terms.pusdPerJ) : pusd(0n)
    const spent = payer.funded ? cost : energy
    invariant(spent <= hold.amount, `a charge exceeds its hold on ${hold.lease.wallet}`)
    const charge = this.#compose(status, { payer, terms, parts, cost })
    return { charge, tailNs, spent, debits: [{ wallet: hold.lease.wallet, amount: spent }] }
  }

  /** Adds to what the node's meter is held against: the first part, which is the node's. */
  #count(chargedNs: bigint, parts: readonly ChargePart[]): void {
    const accruedNj = nj(BigInt(parts[0]?.energy_nj ?? 0))
    this.#floor.settled = addBilled(this.#floor.settled, { chargedNs, accruedNj })
  }

  /** What this work will be billed of the node's energy, while it runs; nothing without a hold. */
  get billed(): Billed {
    if (this.#hold === undefined) return NOTHING_BILLED
    return {
      chargedNs: this.#measure.totalCpuNs(),
      accruedNj: smaller(this.#measure.nodeEnergy(this.#agreed.tariff), this.#covered(this.#hold)),
    }
  }

  /** Work of nobody: one shared charge per second and status, paid by the operator. */
  #refuse(status: number): Charge {
    const { session, clock, refusals } = this.#floor
    const terms = this.#terms ?? this.#floor.lastTerms()
    const second = Math.floor(clock.wallMs() / 1000)
    return refusals.charge({ second, status, cpuNs: this.#measure.cpuNs }, (cpuNs) => {
      const flat = new Measure()
      flat.cpuNs = cpuNs
      const parts = flat.parts(terms.tariff, 0n, flat.energy(terms.tariff))
      const charge = this.#compose(status, { payer: NOBODY, terms, parts, cost: pusd(0n) })
      session.append('charge', chargeText(charge), [])
      this.#count(flat.totalCpuNs(), parts)
      return charge
    })
  }

  #compose(
    status: number,
    bill: Pick<Parameters<typeof composeCharge>[0], 'payer' | 'terms' | 'parts' | 'cost'>,
  ): Charge {
    const { session, clock } = this.#floor
    return composeCharge({
      ...bill,
      ids: { receipt: this.receiptId, request: this.requestId },
      record: { session: session.id, seq: session.nextSeq },
      operation: bill.payer === NOBODY ? 'service.nobody' : this.#operation,
      served: this.#served,
      status,
      fromMs: this.#fromMs,
      toMs: this.#toMs ?? clock.wallMs(),
    })
  }
}

// Longer than a session lives without the ledger: whoever waits past it would not be admitted anyway.
const ADMIT_TIMEOUT_MS = 2500
