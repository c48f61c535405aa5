// budgets.sql as plain functions: energy budgets by the day.
import { dayOf } from '#base/clock.ts'
import { emit, openWallet, transfer, walletOf, type Books } from './model-books.ts'

export const budgetDay = (id: string, nowMs: number): string => `budget:${id}:${dayOf(nowMs)}`

export type NewBudget = { readonly id: string; readonly account: string; readonly njPerDay: bigint }

/** Sets a budget; nothing per day removes it. */
export function setBudget(books: Books, { id, account, njPerDay }: NewBudget, nowMs: number): void {
  if (njPerDay === 0n) return void books.budgets.delete(id)
  books.budgets.set(id, { account: books.budgets.get(id)?.account ?? account, njPerDay })
  fitBudget(books, budgetDay(id, nowMs))
}

/** Makes the day's wallets of the wanted budgets, and fits them. */
export function openBudgetDays(books: Books, wants: readonly string[], nowMs: number): void {
  const named = wants.filter((want) => want.startsWith('budget:')).map((want) => want.split(':'))
  for (const [, id = '', day] of named) {
    const wallet = budgetDay(id, nowMs)
    if (day === undefined && books.budgets.has(id) && openWallet(books, wallet, 'nJ', true))
      books.budgetDays.set(wallet, { budget: id, granted: 0n, isWarned: false })
  }
  const wallets = named
    .filter(([, , day]) => day === undefined || day === dayOf(nowMs))
    .map(([, id = '']) => budgetDay(id, nowMs))
  for (const wallet of [...new Set(wallets)].toSorted()) fitBudget(books, wallet)
}

function fitBudget(books: Books, wallet: string): void {
  const day = books.budgetDays.get(wallet)
  const wanted = books.budgets.get(day?.budget ?? '')?.njPerDay
  if (day === undefined || wanted === undefined || wanted === day.granted) return
  const { posted, reserved } = walletOf(books, wallet)
  const wished = wanted - day.granted
  const change = wished > reserved - posted ? wished : reserved - posted
  day.isWarned &&= (day.granted - posted) * 5n >= wanted * 4n
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
  const used = day.granted - walletOf(books, wallet).posted
  if (used * 5n < budget.njPerDay * 4n) return
  day.isWarned = true
  emit(books, budget.account, 'energy_budget.warning', {
    resource_id: day.budget,
    budget_nj: String(budget.njPerDay),
    used_nj: String(used),
  })
}

/** Wallets of budgets that were lowered, of which the leases have too much. */
export function loweredBudgets(books: Books, nowMs: number): string[] {
  return [...books.budgetDays]
    .filter(([wallet, { budget, granted }]) => {
      const wanted = books.budgets.get(budget)?.njPerDay
      return wanted !== undefined && granted > wanted && wallet === budgetDay(budget, nowMs)
    })
    .map(([wallet]) => wallet)
}
