// budgets.sql as plain functions: energy budgets by the day.
import { dayOf } from '#base/clock.ts'
import {
  emit,
  openWallet,
  transfer,
  walletOf,
  type Books,
  type ReferenceBudgetDay,
  type ReferenceCharge,
} from './books.ts'

export const budgetDay = (id: string, nowMs: number): string => `budget:${id}:${dayOf(nowMs)}`

export type NewBudget = {
  readonly id: string
  readonly account: string
  readonly njPerDay: bigint
  readonly operations?: readonly string[]
}

/** Sets a budget; nothing per day removes it. */
export function setBudget(books: Books, budget: NewBudget, nowMs: number): void {
  const { id, account, njPerDay, operations = [] } = budget
  if (njPerDay === 0n) return void books.budgets.delete(id)
  books.budgets.set(id, {
    account: books.budgets.get(id)?.account ?? account,
    njPerDay,
    operations,
  })
  const wallet = budgetDay(id, nowMs)
  openWallet(books, wallet, 'nJ', true)
  const fresh = { budget: id, unlimited: 0n, granted: 0n, isWarned: false }
  const day = books.budgetDays.get(wallet) ?? fresh
  const charged = books.charges
    .filter((one) => isLimited(one, id, operations) && dayOf(one.atMs) === dayOf(nowMs))
    .reduce((sum, { energyNj }) => sum + energyNj, 0n)
  const unlimited = charged - (day.granted - walletOf(books, wallet).posted)
  day.unlimited = unlimited > 0n ? unlimited : 0n
  books.budgetDays.set(wallet, day)
  fitBudget(books, wallet)
}

/** Makes the day's wallets of the wanted budgets, and fits them. */
export function openBudgetDays(books: Books, wants: readonly string[], nowMs: number): void {
  const named = wants.filter((want) => want.startsWith('budget:')).map((want) => want.split(':'))
  for (const [, id = '', day] of named) {
    const wallet = budgetDay(id, nowMs)
    if (day === undefined && books.budgets.has(id) && openWallet(books, wallet, 'nJ', true))
      books.budgetDays.set(wallet, { budget: id, unlimited: 0n, granted: 0n, isWarned: false })
  }
  const wallets = named
    .filter(([, , day]) => day === undefined || day === dayOf(nowMs))
    .map(([, id = '']) => budgetDay(id, nowMs))
  for (const wallet of [...new Set(wallets)].toSorted()) fitBudget(books, wallet)
}

function fitBudget(books: Books, wallet: string): void {
  const day = books.budgetDays.get(wallet)
  const perDay = books.budgets.get(day?.budget ?? '')?.njPerDay
  if (day === undefined || perDay === undefined) return
  const wanted = shareOf(perDay, day)
  if (wanted === day.granted) return
  const { posted, reserved } = walletOf(books, wallet)
  const wished = wanted - day.granted
  const change = wished > reserved - posted ? wished : reserved - posted
  day.isWarned &&= change <= 0n && (day.unlimited + day.granted - posted) * 5n >= perDay * 4n
  day.granted += change
  const [debit, credit] =
    change > 0n ? ['operator:budget', wallet] : ([wallet, 'operator:budget'] as const)
  const amount = change > 0n ? change : -change
  transfer(books, { debit, credit, amount, kind: 'budget', reference: '' })
}

export function noteBudget(books: Books, wallet: string): void {
  const day = books.budgetDays.get(wallet)
  const budget = books.budgets.get(day?.budget ?? '')
  if (day === undefined || budget === undefined || day.isWarned) return
  const used = day.unlimited + day.granted - walletOf(books, wallet).posted
  if (used * 5n < budget.njPerDay * 4n) return
  day.isWarned = true
  emit(books, budget.account, 'energy_budget.warning', {
    resource_id: day.budget,
    budget_nj: String(budget.njPerDay),
    used_nj: String(used),
  })
}

/** The energy that the wallet of a day is given. */
const shareOf = (perDay: bigint, { unlimited }: ReferenceBudgetDay): bigint =>
  perDay > unlimited ? perDay - unlimited : 0n

const isLimited = (
  { resource, operation }: ReferenceCharge,
  id: string,
  operations: readonly string[],
): boolean => resource === id && operations.includes(operation)

/** Counts a charge that took nothing of the budget of its resource on the day of its end. */
export function countUnlimited(books: Books, charge: ReferenceCharge): void {
  const { resource = '', atMs, energyNj } = charge
  const day = books.budgetDays.get(budgetDay(resource, atMs))
  const operations = books.budgets.get(resource)?.operations ?? []
  if (day !== undefined && isLimited(charge, resource, operations)) day.unlimited += energyNj
}

/** Wallets of budgets that were lowered, of which the leases have too much. */
export function loweredBudgets(books: Books, nowMs: number): string[] {
  return [...books.budgetDays]
    .filter(([wallet, day]) => {
      const perDay = books.budgets.get(day.budget)?.njPerDay
      if (perDay === undefined || wallet !== budgetDay(day.budget, nowMs)) return false
      return day.granted > shareOf(perDay, day)
    })
    .map(([wallet]) => wallet)
}
