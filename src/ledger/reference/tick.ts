// The tick and the sessions as plain functions over plain data: the oracle that tick.sql is tested
// against, and the ledger of the simulator. Each checks first and then changes the books, so one that
// throws has changed nothing.
import { dayOf } from '#base/clock.ts'
import { ErgonError, present } from '#base/errors.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import {
  accountOf,
  leasesOf,
  openWallet,
  transfer,
  walletOf,
  type Books,
  type ReferenceSession,
} from './books.ts'
import { budgetDay, countUnlimited, loweredBudgets, noteBudget, openBudgetDays } from './budgets.ts'
import { burnLots, noteBalance } from './funds.ts'
import { drawReserves } from './reserves.ts'
import { SQL_STATES, type SqlStateName } from '#state/sql-states.ts'
import type { LeaseGrant, TickInput, TickRecord, TickResult } from '#ledger/tick.ts'

/** unique_violation. */
const UNIQUE = '23505'

const SESSION_MS = 2000
const SHORTAGE_MS = 1000

/** Throws the SQLSTATEs that tick() raises. */
export function tick(books: Books, input: TickInput, nowMs: number): TickResult {
  const session = openOf(books, input.session)
  if (input.number <= session.lastTick) throw refused('overtaken', 'has ticked since')
  const fresh = freshRecords(books, session, input)
  openDay(books, input, nowMs)
  const wanted = input.wants.map(({ wallet }) => wallet)
  openBudgetDays(books, wanted, nowMs)
  const finalSeq = session.lastSeq + BigInt(fresh.length)
  post(books, input, { after: session.lastSeq, until: finalSeq })
  for (const record of fresh) append(books, input, record)
  drawReserves(books, session, input)
  const grants = grant(books, input, nowMs)
  session.lastSeq = finalSeq
  session.lastTick = input.number
  if (input.epoch > session.epoch) session.epoch = input.epoch
  session.untilMs = nowMs + SESSION_MS
  return {
    grants,
    recalls: recallsOf(books, input.session, nowMs),
    lastSeq: session.lastSeq,
    epoch: BigInt(books.changes.length),
    changes: books.changes.slice(Number(input.epoch)),
    price: { id: books.price.id, pusdPerJ: books.price.pusdPerJ },
    tariff: books.tariffs.get(input.meter) ?? null,
    halted: books.halted,
  }
}

/** Opens the next life of a process; fails while an earlier one is open. */
export function openSession(
  books: Books,
  process: string,
  nowMs: number,
  { lifeMin = 1, draws }: { readonly lifeMin?: number; readonly draws?: string | undefined } = {},
): string {
  const lives = [...books.sessions.values()].filter((one) => one.process === process)
  if (lives.some((one) => one.open)) throw refusedAs(UNIQUE, 'has an open life')
  const life = Math.max(lifeMin, ...lives.map((one) => one.life + 1))
  const id = `${process}.${life}`
  books.sessions.set(id, {
    process,
    life,
    draws,
    lastSeq: 0n,
    lastTick: 0n,
    epoch: BigInt(books.changes.length),
    untilMs: nowMs + SESSION_MS,
    open: true,
  })
  return id
}

/** Throws the SQLSTATEs that lose_records() raises. */
export function loseRecords(
  books: Books,
  lost: { session: string; first: bigint; last: bigint },
): void {
  const { session: id, first, last } = lost
  const session = openOf(books, id)
  if (first !== session.lastSeq + 1n || last < first) throw refused('overtaken', 'has posted since')
  const count = last - first + 1n
  const records = books.records.get(id) ?? []
  books.records.set(id, [...records, ...Array.from({ length: Number(count) }, () => '')])
  session.lastSeq = last
  books.lost.push({ session: id, first, last })
  const detail = { session: id, first: String(first), last: String(last), lost: String(count) }
  books.alarms.push({ kind: 'journal_gap', detail })
}

export function closeSession(books: Books, id: string): void {
  const session = present(books.sessions.get(id), `no session ${id}`)
  for (const [wallet, amount] of leasesOf(books, id)) walletOf(books, wallet).reserved -= amount
  leasesOf(books, id).clear()
  books.shortages.delete(id)
  session.open = false
}

export function writeOffSession(books: Books, id: string, reason: string, nowMs: number): void {
  const session = openOf(books, id)
  if (session.untilMs > nowMs) throw refused('sessionAlive', 'is alive')
  const leases = [...leasesOf(books, id)].map(([wallet, amount]) => [wallet, amount.toString()])
  const detail = { session: id, reason, leases: Object.fromEntries(leases) }
  books.alarms.push({
    kind: 'session_written_off',
    detail: { ...detail, last_seq: Number(session.lastSeq) },
  })
  closeSession(books, id)
}

export function changeCredentials(books: Books, token: string | null, account: string): bigint {
  books.changes.push({ token, account })
  return BigInt(books.changes.length)
}

/** The wallet that a want means at a time: a free tier and a budget are of the day. */
export const leaseWallet = (want: string, nowMs: number): string =>
  /^(free|budget):[^:]*$/.test(want) ? `${want}:${dayOf(nowMs)}` : want

const isFreeWant = (want: string) => /^free:[^:]*$/.test(want)

function openOf(books: Books, id: string): ReferenceSession {
  const session = books.sessions.get(id)
  if (session === undefined || !session.open) throw refused('sessionOver', 'is not open')
  return session
}

const refused = (name: SqlStateName, what: string) => refusedAs(SQL_STATES[name].code, what)

const refusedAs = (code: string, what: string) =>
  new ErgonError({ code, status: 500 }, `The session ${what}`)

function freshRecords(books: Books, session: ReferenceSession, input: TickInput): TickRecord[] {
  const posted = books.records.get(input.session) ?? []
  for (const record of input.records)
    if (record.seq <= session.lastSeq && posted[Number(record.seq) - 1] !== textOf(record))
      throw refused('recordChanged', 'sent another record under a posted number')
  const known = input.records.filter((record) => record.seq <= session.lastSeq).length
  const fresh = input.records.slice(known)
  for (const [index, record] of fresh.entries())
    if (record.seq !== session.lastSeq + BigInt(index + 1))
      throw refused('recordLeftOut', 'left out a record')
  return fresh
}

const textOf = (record: TickRecord) => Buffer.from(record.bytes).toString('utf8')

function openDay(books: Books, input: TickInput, nowMs: number): void {
  const wanted = input.wants.map((want) => want.wallet).filter(isFreeWant)
  const wallets = new Set(wanted.map((want) => leaseWallet(want, nowMs)))
  for (const credit of [...wallets].toSorted()) {
    if (!openWallet(books, credit, 'nJ', true)) continue
    const amount = books.price.freeTierNj
    const moved = { debit: 'operator:free-tier', kind: 'free_tier', reference: '' }
    transfer(books, { ...moved, credit, amount })
  }
}

function post(books: Books, input: TickInput, posted: { after: bigint; until: bigint }): void {
  const sums = new Map<string, bigint>()
  for (const { seq, wallet, amount } of input.debits)
    if (seq > posted.after && seq <= posted.until)
      sums.set(wallet, (sums.get(wallet) ?? 0n) + amount)
  const leases = leasesOf(books, input.session)
  for (const [id, amount] of [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const lease = leases.get(id) ?? 0n
    const taken = amount < lease ? amount : lease
    debit(books, { id, taken, leases })
    const excess = amount - taken
    if (excess === 0n) continue
    const detail = { session: input.session, wallet: id, excess: excess.toString() }
    books.alarms.push({ kind: 'lease_exceeded', detail })
    const unit = books.wallets.get(id)?.unit
    if (unit !== undefined)
      transfer(books, {
        debit: `operator:loss:${unit}`,
        credit: counterpart(id, unit),
        amount: excess,
        kind: 'lease_exceeded',
        reference: input.session,
      })
  }
}

const counterpart = (wallet: string, unit: string): string => {
  if (wallet.startsWith('free:')) return 'operator:free-tier'
  return wallet.startsWith('budget:') ? 'operator:budget' : `operator:revenue:${unit}`
}

function debit(
  books: Books,
  { id, taken, leases }: { id: string; taken: bigint; leases: Map<string, bigint> },
): void {
  if (taken === 0n) return
  const wallet = walletOf(books, id)
  const before = wallet.posted
  leases.set(id, (leases.get(id) ?? 0n) - taken)
  wallet.posted -= taken
  wallet.reserved -= taken
  walletOf(books, counterpart(id, wallet.unit)).posted += taken
  if (id.startsWith('budget:')) noteBudget(books, id)
  if (!id.startsWith('money:')) return
  burnLots(books, id, taken)
  noteBalance(books, id, before)
}

function grant(books: Books, input: TickInput, nowMs: number): LeaseGrant[] {
  const leases = leasesOf(books, input.session)
  const wanted = new Map<string, { want: string; amount: bigint }>()
  for (const { wallet: want, amount } of input.wants) {
    const wallet = leaseWallet(want, nowMs)
    const other = wanted.get(wallet)
    wanted.set(wallet, {
      want: other !== undefined && other.want < want ? other.want : want,
      amount: other !== undefined && other.amount > amount ? other.amount : amount,
    })
  }
  const grants: LeaseGrant[] = []
  for (const [id, { want, amount }] of [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const wallet = books.wallets.get(id)
    if (wallet === undefined || !wallet.bounded) continue
    const lease = leases.get(id) ?? 0n
    const elsewhere = wallet.reserved - wallet.kept > lease
    const most = lease + wallet.posted - wallet.reserved
    const granted = amount < most ? amount : most
    wallet.reserved += granted - lease
    if (granted === 0n) leases.delete(id)
    else leases.set(id, granted)
    grants.push({ want, wallet: id, amount: granted, dry: granted < amount, elsewhere })
  }
  noteShortages(books, input.session, grants, nowMs)
  return grants
}

function noteShortages(
  books: Books,
  session: string,
  grants: readonly LeaseGrant[],
  nowMs: number,
): void {
  const short = grants.filter(({ dry, elsewhere }) => dry && elsewhere)
  if (short.length === 0) return
  const known = [...(books.shortages.get(session) ?? [])]
  const noted = new Map(known.filter(([, atMs]) => atMs > nowMs - SHORTAGE_MS))
  for (const { wallet } of short) noted.set(wallet, nowMs)
  books.shortages.set(session, noted)
}

function recallsOf(books: Books, session: string, nowMs: number): string[] {
  const recalls = new Set<string>(loweredBudgets(books, nowMs))
  for (const [other, shortages] of books.shortages)
    for (const [wallet, atMs] of shortages)
      if (other !== session && atMs > nowMs - SHORTAGE_MS) recalls.add(wallet)
  const leases = leasesOf(books, session)
  return [...recalls].filter((wallet) => (leases.get(wallet) ?? 0n) > 0n).toSorted()
}

function append(books: Books, { session, debits }: TickInput, record: TickRecord): void {
  const text = textOf(record)
  const records = books.records.get(session) ?? []
  records.push(text)
  books.records.set(session, records)
  if (record.kind === 'window') {
    const window = JSON.parse(text) as { meter: string; reading_nj: string }
    return read(books, window.meter, BigInt(window.reading_nj))
  }
  const charge = JSON.parse(text) as Charge
  const account = accountOf(books, charge.account)
  account.charges++
  const energyNj = BigInt(charge.energy_nj)
  const made = {
    session,
    seq: record.seq,
    id: charge.id,
    account: charge.account,
    accountSeq: account.charges,
    leafIndex: BigInt(books.charges.length),
    energyNj,
    money: BigInt(charge.charge_pusd),
    operation: charge.operation,
    resource: resourceIdOf(charge),
    atMs: Date.parse(charge.to),
  }
  books.charges.push(made)
  const isLimited = debits.some(
    ({ seq, wallet }) => seq === record.seq && wallet === budgetDay(made.resource ?? '', made.atMs),
  )
  if (!isLimited) countUnlimited(books, made)
  walletOf(books, `energy:${charge.account}`).posted += energyNj
  walletOf(books, 'operator:energy').posted -= energyNj
  for (const part of charge.parts)
    if (part.meter.startsWith('upstream:')) read(books, part.meter, BigInt(part.energy_nj))
}

/** Buckets have none. */
const resourceIdOf = ({ resource }: Charge): string | undefined =>
  resource?.startsWith('s3:') === false ? resource.split(':')[1] : undefined

/** A meter's reading comes to the operator. */
function read(books: Books, meter: string, energy: bigint): void {
  openWallet(books, `meter:${meter}`, 'nJ', false)
  walletOf(books, `meter:${meter}`).posted -= energy
  walletOf(books, 'operator:energy').posted += energy
}
