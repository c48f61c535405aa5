// The part of one lease that a hold took. The wallet of the lease pays, or is an energy budget, which only limits.
import { energyFor, nj, priceCeiling, pusd, type Nj } from '#base/units.ts'
import { invariant, present } from '#base/errors.ts'
import type { Debit } from '#ledger/tick.ts'
import { free, type Lease, type Leases } from './leases.ts'

export class HeldLease {
  readonly want: string
  readonly #leases: Leases
  /** Of a wallet of money; undefined where the wallet is of energy. */
  readonly #pusdPerJ: bigint | undefined
  #lease: Lease | undefined
  /** In the wallet's unit. */
  #amount = 0n

  constructor(leases: Leases, want: string, pusdPerJ?: bigint) {
    this.#leases = leases
    this.want = want
    this.#pusdPerJ = pusdPerJ
  }

  get isEmpty(): boolean {
    return this.#lease === undefined
  }

  /** The energy that is held. */
  get energyNj(): Nj {
    return this.#energy(this.#amount)
  }

  /** The lease that it rests on, or would. */
  get source(): Lease | undefined {
    return this.#lease ?? this.#leases.get(this.want)
  }

  /** The first millisecond of the day of the wallet that it holds; undefined of money, and of nothing. */
  get dayMs(): number | undefined {
    return this.#lease?.dayMs
  }

  /** The lease of a later day that it can move to with this energy at least; undefined where there is none. */
  nextDay(least: Nj): Lease | undefined {
    if (this.dayMs === undefined) return undefined
    const next = this.#later
    if (next !== undefined && free(next) >= this.#price(least)) return next
    // Also of a day whose lease was given back, as nothing was held there.
    this.#leases.ask(this.want, this.#amount)
    return undefined
  }

  /** True where the lease of a later day is there, and has less than this energy. */
  isShortLater(least: Nj): boolean {
    const next = this.#later
    return next !== undefined && free(next) < this.#price(least)
  }

  /** The lease of a later day. */
  get #later(): Lease | undefined {
    const next = this.#leases.get(this.want)
    const dayMs = this.dayMs
    const isLater = dayMs !== undefined && next?.dayMs !== undefined && next.dayMs > dayMs
    return isLater ? next : undefined
  }

  /** Moves to the lease of a later day, with all that it holds or that the lease has. */
  moveTo(next: Lease): void {
    const lease = present(this.#lease, 'what moves holds a lease')
    const amount = this.#amount < free(next) ? this.#amount : free(next)
    this.#leases.hold(next, amount)
    this.#leases.settle(lease, this.#amount, 0n)
    this.#lease = next
    this.#amount = amount
  }

  /** The free part of the lease, in the wallet's unit. */
  get left(): bigint {
    const lease = this.source
    return lease === undefined ? 0n : free(lease)
  }

  /** The energy that it would hold with all that is left. */
  get reachNj(): Nj {
    return this.#energy(this.#amount + this.left)
  }

  /** All the energy that the wallet has, where this session has all of it; what others hold may come back. */
  get fundsNj(): Nj | undefined {
    const lease = this.#lease
    if (lease === undefined || !lease.dry || lease.elsewhere) return undefined
    return this.#energy(lease.amount - lease.used)
  }

  /** The amount missing to hold `energy`, in the wallet's unit; zero or less when the lease covers it. */
  missing(energy: Nj): bigint {
    return this.#price(energy) - this.#amount
  }

  /** Holds an amount of the lease. The caller has checked that the lease has so much left. */
  take(amount: bigint): void {
    const lease = present(this.source, 'what has something left has a lease')
    this.#leases.hold(lease, amount)
    this.#lease = lease
    this.#amount += amount
  }

  /** Another session wants what this one does not use of the wallet. */
  get isWanted(): boolean {
    return (this.source?.scarceTicks ?? 0) > 0
  }

  /** Gives back what is held beyond an energy. */
  keep(energy: Nj): void {
    const excess = -this.missing(energy)
    if (this.#lease === undefined || excess <= 0n) return
    this.#leases.settle(this.#lease, excess, 0n)
    this.#amount -= excess
  }

  ask(energy: Nj): void {
    this.#leases.ask(this.source ?? this.want, this.missing(energy))
  }

  /** The debit of the wallet for `energy` at the price `cost`. */
  debit(energy: Nj, cost: bigint): Debit {
    const { wallet } = present(this.#lease, 'who holds has a lease')
    const amount = this.#pusdPerJ === undefined ? energy : cost
    invariant(amount <= this.#amount, `a charge exceeds its hold on ${wallet}`)
    return { wallet, amount }
  }

  /** Gives back what was not spent. */
  end(spent: bigint): void {
    if (this.#lease !== undefined) this.#leases.settle(this.#lease, this.#amount, spent)
  }

  #price(energy: Nj): bigint {
    return this.#pusdPerJ === undefined ? energy : priceCeiling(energy, this.#pusdPerJ)
  }

  #energy(amount: bigint): Nj {
    return this.#pusdPerJ === undefined ? nj(amount) : energyFor(pusd(amount), this.#pusdPerJ)
  }
}
