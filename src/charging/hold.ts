// What one piece of work has taken of its payer's lease, so that it can always pay what it is billed: a first
// sum before it begins, more while it goes on, never more than its cap.
import { invariant, present } from '#base/errors.ts'
import { energyFor, nj, priceCeiling, pusd, smaller, type Nj } from '#base/units.ts'
import { LEAST_HOLD_NJ, type Debit } from '#ledger/tick.ts'
import type { ChargingDeps } from './charging-deps.ts'
import type { Terms } from './compose-charge.ts'
import { depleted, silent } from './faults.ts'
import { free, type Lease } from './leases.ts'
import type { Payer } from './spend.ts'

const NONE = nj(0n)
// Longer than a session lives without the ledger: whoever waits past it would not be admitted anyway.
const WAIT_MS_MAX = 2500
// Sessions tick each 0.3 s at least, and give back with the tick after the one that says who wants it.
const RECALL_MS_MAX = 1000
const RECALL_POLL_MS = 50

export type HoldDeps = Pick<ChargingDeps, 'leases' | 'session' | 'clock'>

export class Hold {
  readonly payer: Payer
  readonly terms: Terms
  /** The most energy that may be billed. */
  capNj: Nj = NONE
  /** CPU time that uses up half of it, by the tariff: where it is looked at whether more is needed. */
  halfCpuNs = Number.POSITIVE_INFINITY
  /** What the head of a stream said: no more is billed, whatever the work takes. */
  toldNj: Nj | undefined
  /** All that the wallet had when the head was written, where that is known. */
  fundsNj: Nj | undefined
  readonly #deps: HoldDeps
  #lease: Lease | undefined
  /** Both of the same: in the wallet's unit, and the energy that it pays for. */
  #amount = 0n
  #paidNj = NONE
  #isEnded = false

  constructor(deps: HoldDeps, payer: Payer, terms: Terms) {
    this.#deps = deps
    this.payer = payer
    this.terms = terms
  }

  /** Nothing was ever taken: nobody pays. */
  get isEmpty(): boolean {
    return this.#lease === undefined
  }

  /** The energy that it pays for; what it was rounded up by is not part of the cap. */
  get coveredNj(): Nj {
    return smaller(this.#paidNj, this.capNj)
  }

  /** The most that the work can be billed, now or later. */
  get ceilingNj(): Nj {
    const { capNj, toldNj = capNj, fundsNj = capNj } = this
    return smaller(capNj, smaller(toldNj, fundsNj))
  }

  /** The most that it can be billed for what it holds. */
  get billableNj(): Nj {
    return smaller(this.coveredNj, this.ceilingNj)
  }

  /** Notes all that the wallet has, where this session has all of it. */
  lookAtFunds(): void {
    const lease = this.#lease
    if (lease === undefined || !lease.dry || lease.elsewhere) return
    // What other works hold of it may come back.
    this.fundsNj = this.#energy(lease.amount - lease.used)
  }

  /** Takes up to an energy, or to the cap when that is less, at once; says whether the lease could. */
  reach(energy: Nj): boolean {
    if (this.#isEnded) return true
    const missing = this.#missing(energy)
    return missing <= 0n || this.#take(missing)
  }

  /**
   * The same with the ledger's help: all that is missing, or what is left of the wallet when other sessions
   * have given back what they did not use of it. Throws
   * `balance_depleted`, `free_tier_exceeded` when there is nothing to hold, `state_unavailable` when the
   * ledger does not answer, and the reason of `cut`.
   */
  async wait(energy: Nj, cut: AbortSignal): Promise<void> {
    const { leases, session, clock } = this.#deps
    const late = new AbortController()
    const cancel = clock.setTimer(WAIT_MS_MAX, () => late.abort(silent()))
    const signal = AbortSignal.any([cut, late.signal])
    const recalledMs = clock.monotonicMs() + RECALL_MS_MAX
    try {
      for (;;) {
        leases.ask(this.#source ?? this.#want, this.#missing(energy))
        await session.tickNow(signal)
        if (this.reach(energy)) return
        const source = this.#source
        if (source === undefined) break
        // Others may have taken what we asked for: only the ledger can say that there is no more.
        if (!source.dry) continue
        if (!source.elsewhere || clock.monotonicMs() >= recalledMs) break
        await new Promise<void>((resolve) => clock.setTimer(RECALL_POLL_MS, resolve))
      }
    } finally {
      cancel()
    }
    this.#takeRest()
  }

  /** Takes all that is missing of the cap, or what the lease still has; false when it has nothing. */
  takeLeft(): boolean {
    const left = this.#lease === undefined ? 0n : free(this.#lease)
    if (left === 0n) return false
    return this.reach(this.capNj) || this.#take(left)
  }

  /** What the ledger takes of the wallet for what was spent, in the wallet's unit. */
  debit(spent: bigint): Debit {
    const { wallet } = present(this.#lease, 'who holds has a lease')
    invariant(spent <= this.#amount, `a charge exceeds its hold on ${wallet}`)
    return { wallet, amount: spent }
  }

  /** Takes no more; what was not spent goes back. */
  end(spent: bigint): void {
    this.#isEnded = true
    if (this.#lease !== undefined) this.#deps.leases.settle(this.#lease, this.#amount, spent)
  }

  get #want(): string {
    return `${this.payer.funded ? 'money' : 'free'}:${this.payer.account}`
  }

  get #source(): Lease | undefined {
    return this.#lease ?? this.#deps.leases.get(this.#want)
  }

  /** In the wallet's unit. */
  #price(energy: Nj): bigint {
    return this.payer.funded ? priceCeiling(energy, this.terms.pusdPerJ) : energy
  }

  #missing(energy: Nj): bigint {
    return this.#price(smaller(this.capNj, energy)) - this.#amount
  }

  #take(amount: bigint): boolean {
    const lease = this.#source
    if (lease === undefined || free(lease) < amount) return false
    this.#deps.leases.hold(lease, amount)
    this.#lease = lease
    this.#amount += amount
    this.#paidNj = this.#energy(this.#amount)
    this.halfCpuNs = (Number(this.coveredNj) / 2 / Number(this.terms.tariff.njPerCpuS)) * 1e9
    return true
  }

  /** What an amount of the wallet pays for. */
  #energy(amount: bigint): Nj {
    return this.payer.funded ? energyFor(pusd(amount), this.terms.pusdPerJ) : nj(amount)
  }

  /** What is left of a wallet that is dry; too little to be worth a hold admits nothing. */
  #takeRest(): void {
    const lease = this.#source
    const left = lease === undefined ? 0n : free(lease)
    const least = this.isEmpty ? this.#price(smaller(this.capNj, LEAST_HOLD_NJ)) : 1n
    if (left >= least) this.#take(left)
    if (this.isEmpty) throw depleted(this.payer)
  }
}
