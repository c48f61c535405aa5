// reserves.sql as plain functions: parts of balances that new work cannot have.
import { priceCeiling, type Nj } from '#base/units.ts'
import {
  accountOf,
  emit,
  leasesOf,
  walletOf,
  type Books,
  type ReferenceReserve,
  type ReferenceSession,
} from './books.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import type { ReserveKind, TickInput } from '#ledger/tick.ts'

/** The energies that a source wants to be kept of balances, by account; the others want nothing. */
export type WantedReserves = {
  readonly kind: ReserveKind
  readonly source: string
  readonly energies: ReadonlyMap<string, Nj>
}

export function fitReferenceReserves(
  books: Books,
  { kind, source, energies }: WantedReserves,
): void {
  const parts = books.reserveParts.get(`${kind} ${source}`) ?? new Map<string, bigint>()
  const next = new Map<string, bigint>()
  for (const [account, energy] of energies)
    if (energy > 0n && books.wallets.has(`money:${account}`))
      next.set(`money:${account}`, priceCeiling(energy, books.price.pusdPerJ))
  books.reserveParts.set(`${kind} ${source}`, next)
  const changed = new Set<string>()
  for (const wallet of [...parts.keys(), ...next.keys()])
    if (parts.get(wallet) !== next.get(wallet)) changed.add(wallet)
  for (const [key, { amount, wanted }] of books.reserves) {
    const [of, wallet = ''] = key.split(' ')
    if (of === kind && amount < wanted) changed.add(wallet)
  }
  for (const wallet of [...changed].toSorted()) fitReserve(books, wallet, kind)
}

function fitReserve(books: Books, id: string, kind: ReserveKind): void {
  let wish = 0n
  for (const [key, parts] of books.reserveParts)
    if (key.startsWith(`${kind} `)) wish += parts.get(id) ?? 0n
  const wallet = walletOf(books, id)
  const had = books.reserves.get(`${kind} ${id}`)?.amount ?? 0n
  const most = had + wallet.posted - wallet.reserved
  const has = wish < most ? wish : most
  if (wish === 0n) books.reserves.delete(`${kind} ${id}`)
  else books.reserves.set(`${kind} ${id}`, { wanted: wish, amount: has })
  wallet.reserved += has - had
  wallet.kept += has - had
  noteDepleted(books, id, has > had)
  if (kind === 'retention' && has < had) noteSolvent(books, id.slice('money:'.length))
}

/** After a credit: the reserves that are short come first. */
export function fillReserves(books: Books, id: string): void {
  for (const kind of ['grace', 'retention'] as const) {
    const reserve = books.reserves.get(`${kind} ${id}`)
    if (reserve !== undefined && reserve.amount < reserve.wanted) fitReserve(books, id, kind)
  }
}

/** Before a tick grants what its session wants. */
export function drawReserves(books: Books, session: ReferenceSession, input: TickInput): void {
  if (session.draws === undefined) return
  const leases = leasesOf(books, input.session)
  const wanted = new Map<string, bigint>()
  for (const { wallet, amount } of input.wants)
    if (amount > (wanted.get(wallet) ?? -1n)) wanted.set(wallet, amount)
  for (const [id, amount] of wanted) {
    const reserve = books.reserves.get(`${session.draws} ${id}`)
    if (reserve === undefined) continue
    const wallet = walletOf(books, id)
    const lease = leases.get(id) ?? 0n
    if (amount >= lease) {
      const short = amount - lease - (wallet.posted - wallet.reserved)
      const drawn = larger(0n, short < reserve.amount ? short : reserve.amount)
      wallet.reserved -= drawn
      give(wallet, reserve, -drawn)
      continue
    }
    const room = reserve.wanted - reserve.amount
    const back = lease - amount < room ? lease - amount : room
    if (back > 0n) leases.set(id, lease - back)
    give(wallet, reserve, back)
  }
}

function give(wallet: { kept: bigint }, reserve: ReferenceReserve, amount: bigint): void {
  reserve.amount += amount
  wallet.kept += amount
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Tells once that a balance has nothing but reserves left. */
export function noteDepleted(books: Books, wallet: string, isLess: boolean): void {
  const id = wallet.slice('money:'.length)
  const account = accountOf(books, id)
  const { posted, kept, unit } = walletOf(books, wallet)
  if (!isLess || account.isDepleted || posted - kept >= leastOf(books)) return
  account.isDepleted = true
  emit(books, id, 'balance.depleted', { balance_pusd: posted.toString(), unit })
}

export function noteSolvent(books: Books, id: string): void {
  const { posted, reserved } = walletOf(books, `money:${id}`)
  if (posted - reserved >= leastOf(books)) accountOf(books, id).isDepleted = false
}

const leastOf = (books: Books): bigint => priceCeiling(LEAST_HOLD_NJ, books.price.pusdPerJ)
