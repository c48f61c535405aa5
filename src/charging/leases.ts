// Leases: what this session may spend of a wallet without asking. A hold is the part of a lease that one running
// request took. Invariant: used + held ≤ amount, so nothing is ever spent that was not reserved.
import { invariant } from '#base/errors.ts'
import type { LeaseGrant, Want } from '#ledger/tick.ts'

/** One lease as the session sees it. All figures are in the wallet's unit (nJ or pUSD). */
export type Lease = {
  /** The wanted wallet: 'money:<account>', 'free:<account>' or a budget. */
  readonly want: string
  /** The granted wallet: a free-tier want is granted on the wallet of a day. */
  readonly wallet: string
  /** The first millisecond of the day of its wallet; undefined of money. */
  readonly dayMs: number | undefined
  /** Granted by the ledger, less what the ledger has posted. */
  amount: bigint
  /** Settled and not yet posted. */
  used: bigint
  /** Of `used`, what the tick under way is posting. */
  posting: bigint
  held: bigint
  /** The wallet could not give the wanted amount. */
  dry: boolean
  /** Others have leases of the wallet. */
  elsewhere: boolean
  /** Ticks for which it keeps nothing in reserve, as the wallet has too little for all who want that. */
  scarceTicks: number
  /** Another session has too little, as of the last tick. */
  isRecalled: boolean
  /** The tick under way gives back what is asked for: it was too little for anybody here. */
  isYielding: boolean
  /** Spent since the last tick, smoothed: decides how much is asked for. */
  rate: bigint
  idleTicks: number
}

/** The part of a lease that is neither used nor held. */
export const free = (lease: Lease): bigint => lease.amount - lease.used - lease.held

// Ticks without use after which a lease goes back: five seconds of ticks of 100 ms, 12.5 of a busy session's 250 ms.
const IDLE_TICKS_MAX = 50
/** Ticks in which nothing is kept in reserve of a wallet that had too little for all: 5 to 15 seconds. */
const SCARCE_TICKS = 50

/** The sum of requests, and the least of them. */
type WantedSums = { readonly all: bigint; readonly least: bigint }
const NOTHING: WantedSums = { all: 0n, least: 0n }

/** The leases of one session. */
export class Leases {
  // By wallet; the newest lease of a want is the one that new holds come from.
  readonly #leases = new Map<string, Lease>()
  readonly #newest = new Map<string, Lease>()
  /** Asked for since the last tick, and by the tick under way. */
  #asked = new Map<string, WantedSums>()
  #asking = new Map<string, WantedSums>()
  readonly #floor: (want: string) => bigint

  /** `floor` is the least worth asking for, by want: about 500 J in the wallet's unit. */
  constructor(floor: (want: string) => bigint) {
    this.#floor = floor
  }

  /** The lease that new holds come from, when there is one. The want may name the wallet of a past day. */
  get(want: string): Lease | undefined {
    return this.#newest.get(want) ?? this.#leases.get(want)
  }

  /** Asks for at least `amount` more at the next tick: of a want, or of a lease that holds rest on. */
  ask(of: string | Lease, amount: bigint): void {
    this.#add(typeof of === 'string' ? of : this.#nameOf(of), { all: amount, least: amount })
  }

  hold(lease: Lease, amount: bigint): void {
    invariant(amount >= 0n && amount <= free(lease), `a hold exceeds the lease on ${lease.wallet}`)
    lease.held += amount
  }

  /** Gives back a hold of which `spent` was used. */
  settle(lease: Lease, held: bigint, spent: bigint): void {
    invariant(
      spent <= held && held <= lease.held,
      `a settlement exceeds its hold on ${lease.wallet}`,
    )
    lease.held -= held
    lease.used += spent
  }

  /** The wants of the next tick, which posts the amounts of `posting` from each wallet. */
  wants(posting: ReadonlyMap<string, bigint>): Want[] {
    const wants: Want[] = []
    this.#asking = this.#asked
    this.#asked = new Map()
    for (const lease of this.#leases.values()) {
      lease.posting = posting.get(lease.wallet) ?? 0n
      const amount = this.#target(lease)
      if (isWell(lease, amount)) continue
      // The returned part leaves the lease now: a hold taken while the tick is under way must not rest on it. So
      // used + held ≤ the grant, whenever the answer comes.
      lease.amount = smaller(lease.amount, lease.posting + amount)
      wants.push({ wallet: this.#nameOf(lease), amount })
    }
    for (const [name, { all }] of this.#asking)
      if (!this.#newest.has(name) && !this.#leases.has(name))
        wants.push({ wallet: name, amount: all + this.#floor(name) })
    return wants
  }

  /** Takes the answer of that tick. */
  granted(grants: readonly LeaseGrant[]): void {
    for (const lease of this.#leases.values()) {
      lease.used -= lease.posting
      lease.amount -= lease.posting
      lease.posting = 0n
    }
    this.#asking.clear()
    for (const grant of grants) this.#take(grant)
    for (const lease of this.#leases.values()) {
      const isEmpty = lease.amount === 0n && lease.used + lease.held === 0n
      if (isEmpty && !lease.dry && lease.scarceTicks === 0) this.#forget(lease)
    }
  }

  /** Gives back at the next tick what is not used of these; says whether there is any. */
  recall(wallets: readonly string[]): boolean {
    const recalled = new Set(wallets)
    let hasReserve = false
    for (const lease of this.#leases.values()) {
      lease.isRecalled = recalled.has(lease.wallet)
      if (!lease.isRecalled) continue
      hasReserve ||= lease.scarceTicks === 0 && free(lease) > 0n
      lease.scarceTicks = SCARCE_TICKS
    }
    return hasReserve
  }

  /** The tick failed: what it would have posted is still ours to post. */
  failed(): void {
    for (const lease of this.#leases.values()) lease.posting = 0n
    for (const [name, asked] of this.#asking) this.#add(name, asked)
    this.#asking.clear()
  }

  get size(): number {
    return this.#leases.size
  }

  #add(name: string, { all, least }: WantedSums): void {
    const before = this.#asked.get(name)
    const sum = { all: (before?.all ?? 0n) + all, least: smaller(before?.least ?? least, least) }
    this.#asked.set(name, sum)
  }

  #target(lease: Lease): bigint {
    const { all: asked, least } = this.#asking.get(this.#nameOf(lease)) ?? NOTHING
    const busy = lease.used + lease.held + asked > 0n
    lease.idleTicks = busy ? 0 : lease.idleTicks + 1
    lease.rate = (lease.rate * 3n + lease.posting) / 4n
    const committed = lease.held + lease.used - lease.posting
    const isScarce = lease.scarceTicks > 0
    if (isScarce) lease.scarceTicks--
    // Parts of a wallet in several sessions, none of them enough for anybody, would be used by none. So each session
    // gives back such a part every other time.
    const isUseless = free(lease) > 0n && free(lease) < least
    lease.isYielding = isScarce && lease.isRecalled && !lease.isYielding && isUseless
    if (lease.isYielding) return committed
    if (!this.#isNewest(lease) || isScarce) return committed + asked
    if (lease.idleTicks > IDLE_TICKS_MAX) return committed
    return committed + larger(this.#floor(lease.want), lease.rate * 8n) + asked
  }

  /** The newest lease asks by want, so that a free-tier grant can move on to the next day. */
  #nameOf(lease: Lease): string {
    return this.#isNewest(lease) ? lease.want : lease.wallet
  }

  #isNewest(lease: Lease): boolean {
    return this.#newest.get(lease.want) === lease
  }

  #take(grant: LeaseGrant): void {
    const lease = this.#leases.get(grant.wallet) ?? newLease(grant)
    invariant(
      lease.used + lease.held <= grant.amount,
      `the grant on ${grant.wallet} is less than what is held`,
    )
    lease.amount = grant.amount
    lease.dry = grant.dry || lease.isYielding
    lease.elsewhere = grant.elsewhere || lease.isYielding
    if (grant.dry && grant.elsewhere) lease.scarceTicks = SCARCE_TICKS
    this.#leases.set(grant.wallet, lease)
    if (grant.want === lease.want) this.#newest.set(lease.want, lease)
  }

  #forget(lease: Lease): void {
    if (this.#isNewest(lease)) this.#newest.delete(lease.want)
    this.#leases.delete(lease.wallet)
  }
}

const DAY_OF_WALLET = /:(\d{4}-\d\d-\d\d)$/

function dayMsOf(wallet: string): number | undefined {
  const day = DAY_OF_WALLET.exec(wallet)?.[1]
  return day === undefined ? undefined : Date.parse(day)
}

const newLease = (grant: LeaseGrant): Lease => ({
  ...grant,
  dayMs: dayMsOf(grant.wallet),
  used: 0n,
  posting: 0n,
  held: 0n,
  rate: 0n,
  idleTicks: 0,
  scarceTicks: 0,
  isRecalled: false,
  isYielding: false,
})
/**
 * Money that rests where it should needs no word, nor what is scarce and all in use: with many quiet accounts
 * ticks would be long.
 */
const isWell = (lease: Lease, target: bigint): boolean =>
  lease.want.startsWith('money:') &&
  lease.posting === 0n &&
  !lease.dry &&
  target <= lease.amount &&
  (lease.scarceTicks > 0 ? target === lease.amount : target * 2n >= lease.amount)
const larger = (a: bigint, b: bigint) => (a > b ? a : b)
const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
