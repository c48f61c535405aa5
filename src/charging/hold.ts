// The hold of one spend: its part of the payer's lease and of each energy budget that limits it, all or none. A first
// sum is held before the work begins, more while it goes on, never more than its cap. So a spend can always pay its bill.
import { dayBeginOf, dayEndOf, dayOf } from '#base/clock.ts'
import { add, larger, nj, smaller, subtract, type Nj } from '#base/units.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import type { Debit } from '#ledger/tick.ts'
import type { ChargingDeps } from './charging-deps.ts'
import type { BillingTerms } from './compose-charge.ts'
import { depleted, exhausted, silent } from './faults.ts'
import { HeldLease } from './held-lease.ts'
import type { Payer, Span } from './spend.ts'

const NONE = nj(0n)
// Longer than a session lives without the ledger: a later grant would come too late for an admission.
const WAIT_MS_MAX = 2500
// Sessions tick each 0.3 s at least, and return a lease with the tick after the one that reports a want.
const RECALL_MS_MAX = 1000
const RECALL_POLL_MS = 50
/** A first hold beyond the needed energy is at most this part of the free amount. */
const FREE_PARTS = 8n

export type HoldDeps = Pick<ChargingDeps, 'leases' | 'session' | 'clock'>

export class Hold {
  readonly payer: Payer
  readonly terms: BillingTerms
  /** The most energy that may be billed. */
  capNj: Nj = NONE
  /** CPU time that uses up half of it, by the tariff: where it is looked at whether more is needed. */
  halfCpuNs = Number.POSITIVE_INFINITY
  /** The figure in the head of a stream: the most that is billed, whatever the work takes. */
  toldNj: Nj | undefined
  /** All that the wallet had when the head was written, where that is known. */
  fundsNj: Nj | undefined
  readonly #deps: HoldDeps
  /** The lease of the wallet that pays, then those of the budgets that limit. */
  readonly #leases: readonly HeldLease[]
  /** The energy that each of them holds. */
  #heldNj = NONE
  #isEnded = false
  readonly #isGiven: boolean

  /**
   * `given` is the span of work that happened before, whose day may be over. The work takes of the budgets of that day, and of
   * the free tier of today, since a past day may have no wallet. Its charge has this span in any case, since other charges
   * have the windows of a cell behind it.
   */
  constructor(deps: HoldDeps, payer: Payer, terms: BillingTerms, given?: Span) {
    this.#deps = deps
    this.payer = payer
    this.terms = terms
    const { account, funded, budgets } = payer
    this.#isGiven = given !== undefined
    const isOver = given !== undefined && dayBeginOf(given.toMs) < dayBeginOf(deps.clock.wallMs())
    const ofDay = isOver ? `:${dayOf(given.toMs)}` : ''
    const paying = funded
      ? new HeldLease(deps.leases, `money:${account}`, terms.pusdPerJ)
      : new HeldLease(deps.leases, `free:${account}`)
    this.#leases =
      budgets === undefined
        ? [paying]
        : [paying, ...new Set(budgets).values().map((id) => this.#budget(`${id}${ofDay}`))]
  }

  /** Nothing was ever taken: nobody pays. */
  get isEmpty(): boolean {
    return this.#leases.some((lease) => lease.isEmpty)
  }

  /** The energy that it pays for; what it was rounded up by is not part of the cap. */
  get coveredNj(): Nj {
    return smaller(this.#heldNj, this.capNj)
  }

  /** The most that the work can be billed, now or later. */
  get ceilingNj(): Nj {
    const { capNj, toldNj = capNj, fundsNj = capNj } = this
    return smaller(capNj, smaller(toldNj, fundsNj))
  }

  /** The most that the spend can be billed by its hold. */
  get billableNj(): Nj {
    return smaller(this.coveredNj, this.ceilingNj)
  }

  /** Notes all that the wallet and the budgets have, where this session has all of it. */
  lookAtFunds(): void {
    this.fundsNj = undefined
    for (const { fundsNj } of this.#leases)
      if (fundsNj !== undefined) this.fundsNj = smaller(this.fundsNj ?? fundsNj, fundsNj)
  }

  /** Takes up to an energy, or to the cap when that is less, at once and of all; says whether the leases could. */
  reach(energy: Nj): boolean {
    if (this.#isEnded) return true
    const wished = smaller(this.capNj, energy)
    if (wished <= this.#heldNj) return true
    for (const lease of this.#leases)
      if (lease.source === undefined || lease.missing(wished) > lease.left) return false
    for (const lease of this.#leases) {
      const missing = lease.missing(wished)
      // A budget of which nothing was needed is limited by it all the same.
      lease.take(missing > 0n ? missing : 0n)
    }
    this.#note()
    return true
  }

  /**
   * Takes the wished energy. A wallet with less gives a part of the free amount, and in any case the needed
   * energy. False when the leases lack it. Otherwise the unused hold of the first request would refuse the others of a
   * small wallet: of six clients with 4 J, four were answered.
   */
  begin(wished: Nj, needed: Nj): boolean {
    if (wished === needed || !this.#leases.some(({ source }) => source?.dry === true))
      return this.reach(wished)
    const free = this.#leases.map(({ energyNj, reachNj }) => subtract(reachNj, energyNj))
    const share = add(this.#heldNj, nj(free.reduce(smaller) / FREE_PARTS))
    return this.reach(larger(needed, smaller(wished, share)))
  }

  /**
   * Takes an energy with the ledger's help: all that is missing, or the rest of the wallets once other sessions have
   * returned their unused leases. Resolves with less too, once the needed energy is held. Throws `balance_depleted`,
   * `free_tier_exceeded` or `budget_exhausted` when there is nothing to hold, `state_unavailable` when the ledger does
   * not answer, and the reason of `cut`.
   */
  async wait(energy: Nj, cut: AbortSignal, needed = energy): Promise<void> {
    const { session, clock } = this.#deps
    const late = new AbortController()
    const cancel = clock.setTimer(WAIT_MS_MAX, () => late.abort(silent()))
    const signal = AbortSignal.any([cut, late.signal])
    const recalledMs = clock.monotonicMs() + RECALL_MS_MAX
    const wished = smaller(this.capNj, energy)
    const least = smaller(this.capNj, needed)
    try {
      for (;;) {
        for (const lease of this.#leases)
          if (lease.source === undefined || lease.missing(wished) > 0n) lease.ask(wished)
        await session.tickNow(signal)
        if (this.begin(energy, needed)) return
        const short = this.#leases.filter((lease) => lease.missing(least) > lease.left)
        if (short.some(({ source }) => source === undefined)) break
        // Another spend may have taken the granted amount. Only the ledger knows that the wallet is empty.
        const dry = short.filter(({ source }) => source?.dry === true)
        if (dry.length === 0) continue
        if (dry.some(({ source }) => source?.elsewhere === false)) break
        if (clock.monotonicMs() >= recalledMs) break
        await new Promise<void>((resolve) => clock.setTimer(RECALL_POLL_MS, resolve))
      }
    } finally {
      cancel()
    }
    this.#takeRest()
  }

  /** Takes all that is missing of the cap, or the rest of the leases; false when one of them has nothing. */
  takeLeft(): boolean {
    if (this.#leases.some(({ left }) => left === 0n)) return false
    return this.reach(this.capNj) || this.#takeAll()
  }

  /** Another session wants what is not used of the wallet or of a budget. */
  get isWanted(): boolean {
    return this.#leases.some((lease) => lease.isWanted)
  }

  /** Gives back what is held beyond an energy. */
  keep(energy: Nj): void {
    if (this.#isEnded) return
    for (const lease of this.#leases) lease.keep(energy)
    this.#note()
  }

  /** Why no more can be taken: the wallet that pays is empty, or a budget is used up. */
  refusal(): ReturnType<typeof depleted> {
    const [paying, ...budgets] = this.#leases
    const least = budgets.reduce<HeldLease | undefined>(
      (a, b) => (b.reachNj < (a ?? paying ?? b).reachNj ? b : a),
      undefined,
    )
    return least === undefined
      ? depleted(this.payer)
      : exhausted(least.want, this.#deps.clock.wallMs())
  }

  /**
   * Moves to the wallets of the day of this time, where the hold is of an earlier day and those wallets cover this
   * energy. False where they do not: the hold stays.
   */
  followDay(toMs: number, least: Nj): boolean {
    if (!this.isBehind(toMs)) return true
    const nexts = this.#leases.map((lease) => lease.nextDay(least))
    if (this.#leases.some(({ dayMs: of }, place) => of !== undefined && nexts[place] === undefined))
      return false
    for (const [place, next] of nexts.entries())
      if (next !== undefined) this.#leases[place]?.moveTo(next)
    this.#note()
    return true
  }

  /** True where its wallets are of a day before this time. */
  isBehind(toMs: number): boolean {
    const dayMs = this.#dayMs
    return dayMs !== undefined && toMs > dayEndOf(dayMs)
  }

  /** True where a wallet of a later day is there, and has less than this energy. */
  isShortLater(least: Nj): boolean {
    return this.#leases.some((lease) => lease.isShortLater(least))
  }

  /** The span of its charge, which ends on the day of the wallets that pay and limit. */
  onItsDay({ fromMs, toMs }: Span): Span {
    const dayMs = this.#dayMs
    if (dayMs === undefined) return { fromMs, toMs }
    const endMs = Math.max(dayMs, Math.min(toMs, dayEndOf(dayMs)))
    return { fromMs: Math.min(fromMs, endMs), toMs: endMs }
  }

  /** The debits of the wallet and of each budget for `energy` at the price `cost`. */
  debits(energy: Nj, cost: bigint): Debit[] {
    return this.#leases.map((lease) => lease.debit(energy, cost))
  }

  /** Takes no more; what was not spent goes back. Without debits nothing was. */
  end(debits: readonly Debit[] = []): void {
    this.#isEnded = true
    for (const [place, lease] of this.#leases.entries()) lease.end(debits[place]?.amount ?? 0n)
  }

  /** The day of the wallets that it holds; undefined where only money pays, and of work with a given span. */
  get #dayMs(): number | undefined {
    if (this.#isGiven) return undefined
    return this.#leases.find(({ dayMs }) => dayMs !== undefined)?.dayMs
  }

  #budget(id: string): HeldLease {
    return new HeldLease(this.#deps.leases, `budget:${id}`)
  }

  #note(): void {
    this.#heldNj = this.#leases.map(({ energyNj }) => energyNj).reduce(smaller)
    this.halfCpuNs = (Number(this.coveredNj) / 2 / Number(this.terms.tariff.njPerCpuS)) * 1e9
  }

  /** Takes the energy that all leases can still give; says whether there was any. */
  #takeAll(): boolean {
    const energy = this.#leases.map(({ reachNj }) => reachNj).reduce(smaller)
    for (const lease of this.#leases) {
      // All of the scarcest: to the unit, so that a wallet is spent to its end.
      const { left } = lease
      const missing = lease.reachNj === energy ? left : lease.missing(energy)
      // Prices are rounded up here, and the energy of an amount of money is rounded down.
      const amount = missing < left ? missing : left
      lease.take(amount > 0n ? amount : 0n)
    }
    this.#note()
    return true
  }

  /** Holds the rest of an empty wallet; a rest too small for a hold admits nothing. */
  #takeRest(): void {
    const least = smaller(this.capNj, LEAST_HOLD_NJ)
    const isWorth = this.#leases.every(
      (lease) =>
        lease.source !== undefined &&
        (this.isEmpty ? lease.missing(least) <= lease.left : lease.left > 0n),
    )
    if (isWorth) this.#takeAll()
    if (this.isEmpty) throw this.refusal()
  }
}
