// The state of the ledger as plain data, for the oracle in tick.ts and for the simulator.
import { present } from '#base/errors.ts'
import type { CredentialChange } from '#ledger/tick.ts'

export type Unit = 'nJ' | 'USD' | 'tUSD'
export type ReferenceWallet = {
  unit: Unit
  posted: bigint
  reserved: bigint
  kept: bigint
  bounded: boolean
}
export type ReferenceLot = {
  readonly id: number
  readonly wallet: string
  readonly kind: string
  readonly priority: number
  remaining: bigint
  expiresMs: number | undefined
  readonly createdMs: number
  source: string
  readonly reference: string
}
export type ReferenceAccount = {
  readonly env: 'live' | 'test'
  funded: boolean
  charges: bigint
  readonly lowWater: bigint
  armed: boolean
  isDepleted: boolean
  events: number
}
export type ReferenceSession = {
  readonly process: string
  readonly life: number
  /** The kind of the reserves that it draws on. */
  readonly draws: string | undefined
  lastSeq: bigint
  lastTick: bigint
  epoch: bigint
  untilMs: number
  open: boolean
}
export type ReferenceCharge = {
  readonly session: string
  readonly seq: bigint
  readonly id: string
  readonly account: string
  readonly accountSeq: bigint
  readonly leafIndex: bigint
  readonly energyNj: bigint
  readonly money: bigint
  readonly operation: string
  /** The id of the charged resource. */
  readonly resource: string | undefined
  readonly atMs: number
}
export type ReferenceTransfer = {
  readonly debit: string
  readonly credit: string
  readonly amount: bigint
  readonly kind: string
  readonly reference: string
}
export type ReferenceEvent = {
  readonly account: string
  readonly type: string
  readonly sequence: number
  readonly data: Readonly<Record<string, unknown>>
}
export type ReferenceBudget = {
  readonly account: string
  readonly njPerDay: bigint
  /** The operations that the budget limits. */
  readonly operations: readonly string[]
}
/** A wallet of a budget on a day. */
export type ReferenceBudgetDay = {
  readonly budget: string
  granted: bigint
  /** Charged without the budget. */
  unlimited: bigint
  isWarned: boolean
}
export type ReferencePending = {
  readonly wallet: string
  readonly amount: bigint
  readonly lot: number
  readonly expiresMs: number
  state: 'pending' | 'posted' | 'voided'
}

/** A reserve of a wallet, and the part of it that is there. */
export type ReferenceReserve = { readonly wanted: bigint; amount: bigint }

export type Books = {
  readonly wallets: Map<string, ReferenceWallet>
  readonly accounts: Map<string, ReferenceAccount>
  readonly sessions: Map<string, ReferenceSession>
  /** session → wallet → amount */
  readonly leases: Map<string, Map<string, bigint>>
  /** session → wallet → when it wanted more of it than others left */
  readonly shortages: Map<string, Map<string, number>>
  readonly lots: ReferenceLot[]
  /** kind and wallet → reserve */
  readonly reserves: Map<string, ReferenceReserve>
  /** kind and source → wallet → amount */
  readonly reserveParts: Map<string, ReadonlyMap<string, bigint>>
  readonly budgets: Map<string, ReferenceBudget>
  /** wallet → its day */
  readonly budgetDays: Map<string, ReferenceBudgetDay>
  readonly pending: Map<string, ReferencePending>
  /** session → the bytes of each posted record, by seq − 1; '' of one that was lost */
  readonly records: Map<string, string[]>
  readonly charges: ReferenceCharge[]
  /** Records that a session had and could not post, by their numbers. */
  readonly lost: { readonly session: string; readonly first: bigint; readonly last: bigint }[]
  readonly transfers: ReferenceTransfer[]
  readonly events: ReferenceEvent[]
  readonly alarms: { kind: string; detail: Readonly<Record<string, unknown>> }[]
  readonly changes: CredentialChange[]
  readonly tariffs: Map<string, unknown>
  price: { id: string; pusdPerJ: bigint; freeTierNj: bigint }
  halted: boolean
}

const OPERATOR: readonly [string, Unit][] = [
  ['energy:nobody', 'nJ'],
  ['operator:energy', 'nJ'],
  ['operator:free-tier', 'nJ'],
  ['operator:budget', 'nJ'],
  ['operator:funds:USD', 'USD'],
  ['operator:funds:tUSD', 'tUSD'],
  ['operator:pending:USD', 'USD'],
  ['operator:pending:tUSD', 'tUSD'],
  ['operator:promotion:USD', 'USD'],
  ['operator:promotion:tUSD', 'tUSD'],
  ['operator:refunds:USD', 'USD'],
  ['operator:refunds:tUSD', 'tUSD'],
  ['operator:loss:USD', 'USD'],
  ['operator:loss:tUSD', 'tUSD'],
  ['operator:loss:nJ', 'nJ'],
  ['operator:revenue:USD', 'USD'],
  ['operator:revenue:tUSD', 'tUSD'],
]

/** The books as the schema leaves them, with a first price. */
export function newBooks(price: Books['price']): Books {
  const books: Books = {
    wallets: new Map(),
    accounts: new Map(),
    sessions: new Map(),
    leases: new Map(),
    shortages: new Map(),
    lots: [],
    reserves: new Map(),
    reserveParts: new Map(),
    budgets: new Map(),
    budgetDays: new Map(),
    pending: new Map(),
    records: new Map(),
    charges: [],
    lost: [],
    transfers: [],
    events: [],
    alarms: [],
    changes: [],
    tariffs: new Map(),
    price,
    halted: false,
  }
  for (const [id, unit] of OPERATOR) openWallet(books, id, unit, false)
  books.accounts.set('nobody', newAccount('test', 10n ** 12n))
  return books
}

export function addAccount(books: Books, id: string, env: 'live' | 'test', lowWater: bigint): void {
  books.accounts.set(id, newAccount(env, lowWater))
  openWallet(books, `energy:${id}`, 'nJ', false)
}

const newAccount = (env: 'live' | 'test', lowWater: bigint): ReferenceAccount => ({
  env,
  funded: false,
  charges: 0n,
  lowWater,
  armed: true,
  isDepleted: false,
  events: 0,
})

/** Makes a wallet unless it exists; says whether it did. */
export function openWallet(books: Books, id: string, unit: Unit, bounded: boolean): boolean {
  if (books.wallets.has(id)) return false
  books.wallets.set(id, { unit, posted: 0n, reserved: 0n, kept: 0n, bounded })
  return true
}

export const walletOf = (books: Books, id: string): ReferenceWallet =>
  present(books.wallets.get(id), `no wallet ${id}`)

export const accountOf = (books: Books, id: string): ReferenceAccount =>
  present(books.accounts.get(id), `no account ${id}`)

export const moneyUnit = (books: Books, account: string): Unit =>
  accountOf(books, account).env === 'test' ? 'tUSD' : 'USD'

export const leasesOf = (books: Books, session: string): Map<string, bigint> => {
  const leases = books.leases.get(session) ?? new Map<string, bigint>()
  books.leases.set(session, leases)
  return leases
}

/** Moves what is not a charge. */
export function transfer(books: Books, moved: ReferenceTransfer): void {
  if (moved.amount === 0n) return
  walletOf(books, moved.debit).posted -= moved.amount
  walletOf(books, moved.credit).posted += moved.amount
  books.transfers.push(moved)
}

export function emit(
  books: Books,
  account: string,
  type: string,
  data: Record<string, unknown>,
): void {
  const owner = accountOf(books, account)
  owner.events++
  const sequence = owner.events
  books.events.push({ account, type, sequence, data: { ...data, account_id: account, sequence } })
}

/** The invariants of reconcile.sql that the books break, by name. */
export function brokenInvariants(books: Books): string[] {
  const broken = new Set<string>()
  const sums = new Map<Unit, bigint>()
  const leased = new Map<string, bigint>()
  for (const leases of books.leases.values())
    for (const [wallet, amount] of leases) leased.set(wallet, (leased.get(wallet) ?? 0n) + amount)
  for (const [id, wallet] of books.wallets) {
    sums.set(wallet.unit, (sums.get(wallet.unit) ?? 0n) + wallet.posted)
    if (wallet.reserved !== (leased.get(id) ?? 0n) + wallet.kept) broken.add('reserved_is_leased')
    if (wallet.kept !== keptOf(books, id)) broken.add('kept_is_in_reserves')
    if (wallet.bounded && (wallet.posted < 0n || wallet.reserved > wallet.posted))
      broken.add('wallets_not_overdrawn')
    if (id.startsWith('money:') && wallet.posted !== lotsOf(books, id))
      broken.add('lots_are_the_balance')
  }
  if ([...sums.values()].some((sum) => sum !== 0n)) broken.add('units_sum_to_zero')
  checkCharges(books, broken)
  return [...broken].toSorted()
}

const keptOf = (books: Books, id: string): bigint =>
  [...books.reserves].reduce(
    (sum, [key, { amount }]) => (key.split(' ')[1] === id ? sum + amount : sum),
    0n,
  )

const lotsOf = (books: Books, wallet: string): bigint =>
  books.lots.reduce((sum, lot) => (lot.wallet === wallet ? sum + lot.remaining : sum), 0n)

function checkCharges(books: Books, broken: Set<string>): void {
  const energy = new Map<string, bigint>()
  const counts = new Map<string, bigint>()
  const revenue = new Map<Unit, bigint>()
  for (const [index, charge] of books.charges.entries()) {
    const { account } = charge
    energy.set(account, (energy.get(account) ?? 0n) + charge.energyNj)
    counts.set(account, (counts.get(account) ?? 0n) + 1n)
    const unit = moneyUnit(books, account)
    revenue.set(unit, (revenue.get(unit) ?? 0n) + charge.money)
    if (charge.leafIndex !== BigInt(index)) broken.add('leaves_are_gapless')
    if (charge.accountSeq !== counts.get(account)) broken.add('account_sequences_are_gapless')
  }
  for (const [id, account] of books.accounts) {
    if (account.charges !== (counts.get(id) ?? 0n)) broken.add('account_sequences_are_gapless')
    if (walletOf(books, `energy:${id}`).posted !== (energy.get(id) ?? 0n))
      broken.add('energy_is_charged')
  }
  for (const unit of ['USD', 'tUSD'] as const)
    if (walletOf(books, `operator:revenue:${unit}`).posted !== (revenue.get(unit) ?? 0n))
      broken.add('revenue_is_charged')
}
