// funds.sql as plain functions: how money comes into an account and goes other than by usage.
import { invariant, present } from '#base/errors.ts'
import {
  accountOf,
  emit,
  moneyUnit,
  openWallet,
  transfer,
  walletOf,
  type Books,
  type ReferenceLot,
} from './books.ts'
import { fillReserves, noteDepleted, noteSolvent } from './reserves.ts'

export type NewLot = {
  readonly account: string
  readonly amount: bigint
  readonly kind: string
  readonly priority: number
  readonly transferKind: string
  readonly expiresMs?: number
  /** Its cause, such as a payment. */
  readonly reference?: string
}

export function grantFunds(books: Books, lot: NewLot, nowMs: number): void {
  addLot(books, lot, `operator:funds:${moneyUnit(books, lot.account)}`, nowMs)
}

export function pendingCredit(
  books: Books,
  credit: { id: string; account: string; amount: bigint; expiresMs: number },
  nowMs: number,
): void {
  const { account, amount } = credit
  const lot = {
    account,
    amount,
    kind: 'funds',
    priority: 40,
    transferKind: 'pending_credit',
    reference: credit.id,
  }
  const made = addLot(books, lot, `operator:pending:${moneyUnit(books, account)}`, nowMs)
  const wallet = `money:${account}`
  const { expiresMs } = credit
  books.pending.set(credit.id, { wallet, amount, lot: made.id, expiresMs, state: 'pending' })
}

export function postPending(books: Books, id: string): boolean {
  return settlePending(books, id, 'posted') !== undefined
}

export function voidPending(books: Books, id: string, nowMs: number): boolean {
  const lot = settlePending(books, id, 'voided')
  if (lot === undefined) return false
  lot.expiresMs = nowMs
  expireWallet(books, lot.wallet, nowMs)
  return true
}

export function expireLots(books: Books, nowMs: number): void {
  const due = books.lots.filter((lot) => {
    const wallet = walletOf(books, lot.wallet)
    return isExpired(lot, nowMs) && wallet.posted > wallet.reserved
  })
  const wallets = new Set(due.map((lot) => lot.wallet))
  for (const wallet of [...wallets].toSorted()) expireWallet(books, wallet, nowMs)
}

export function burnLots(books: Books, wallet: string, taken: bigint): void {
  let left = taken
  for (const lot of inBurnOrder(books, wallet)) {
    const burnt = left < lot.remaining ? left : lot.remaining
    lot.remaining -= burnt
    left -= burnt
  }
  invariant(left === 0n, `lots of ${wallet} are less than its balance`)
}

export function noteBalance(books: Books, wallet: string, before: bigint): void {
  if (!wallet.startsWith('money:')) return
  const id = wallet.slice('money:'.length)
  const account = accountOf(books, id)
  const { posted, unit } = walletOf(books, wallet)
  if (account.armed && posted < before && posted < account.lowWater) {
    account.armed = false
    emit(books, id, 'balance.low', {
      balance_pusd: posted.toString(),
      low_water_pusd: account.lowWater.toString(),
      unit,
    })
  }
  noteDepleted(books, wallet, posted < before)
}

function addLot(books: Books, lot: NewLot, source: string, nowMs: number): ReferenceLot {
  const { account, amount, kind, priority, expiresMs, reference = '' } = lot
  const wallet = `money:${account}`
  openWallet(books, wallet, moneyUnit(books, account), true)
  transfer(books, {
    debit: source,
    credit: wallet,
    amount,
    kind: lot.transferKind,
    reference,
  })
  const id = books.lots.length + 1
  const made = {
    id,
    wallet,
    kind,
    priority,
    remaining: amount,
    expiresMs,
    createdMs: nowMs,
    source,
    reference,
  }
  books.lots.push(made)
  const owner = accountOf(books, account)
  owner.funded = true
  owner.armed ||= walletOf(books, wallet).posted * 10n >= owner.lowWater * 11n
  fillReserves(books, wallet)
  noteSolvent(books, account)
  books.changes.push({ token: null, account })
  return made
}

function settlePending(
  books: Books,
  id: string,
  outcome: 'posted' | 'voided',
): ReferenceLot | undefined {
  const credit = present(books.pending.get(id), `no pending credit ${id}`)
  if (credit.state !== 'pending') return undefined
  credit.state = outcome
  const lot = present(books.lots[credit.lot - 1], `no lot ${credit.lot}`)
  const { unit } = walletOf(books, credit.wallet)
  const source = `operator:${outcome === 'posted' ? 'funds' : 'loss'}:${unit}`
  const { amount } = credit
  transfer(books, {
    debit: source,
    credit: lot.source,
    amount,
    kind: `pending_${outcome}`,
    reference: id,
  })
  lot.source = source
  return lot
}

function expireWallet(books: Books, id: string, nowMs: number): void {
  const wallet = walletOf(books, id)
  const before = wallet.posted
  for (const lot of inBurnOrder(books, id)) {
    if (!isExpired(lot, nowMs)) continue
    const available = wallet.posted - wallet.reserved
    const amount = lot.remaining < available ? lot.remaining : available
    lot.remaining -= amount
    transfer(books, {
      debit: id,
      credit: lot.source,
      amount,
      kind: 'expired',
      reference: lot.reference === '' ? lot.kind : lot.reference,
    })
  }
  noteBalance(books, id, before)
}

const isExpired = (lot: ReferenceLot, nowMs: number) =>
  lot.remaining > 0n && lot.expiresMs !== undefined && lot.expiresMs <= nowMs

const inBurnOrder = (books: Books, wallet: string): ReferenceLot[] =>
  books.lots
    .filter((lot) => lot.wallet === wallet && lot.remaining > 0n)
    .toSorted(
      (a, b) =>
        a.priority - b.priority ||
        compare(a.expiresMs ?? Number.POSITIVE_INFINITY, b.expiresMs ?? Number.POSITIVE_INFINITY) ||
        a.createdMs - b.createdMs ||
        a.id - b.id,
    )

const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
