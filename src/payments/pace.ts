// The pace of cards and payments of an account. A thief of card numbers tries each of them out at any service
// that takes cards. Each account is counted over the last 24 hours, under its lock.
import { fault } from '#contract/errors.ts'
import { lockAccount } from '#identity/members.ts'
import type { Queryable } from '#state/connect.ts'

/** Cards that an account may have. */
export const METHODS_MAX = 10
/** Cards that an account may try to add in a day: those that were refused or removed count too. */
export const CARDS_PER_DAY_MAX = 20
/** Payments that may fail or be given up in a day before another one is tried; those under way count, as each may fail. */
export const FAILURES_PER_DAY_MAX = 10

/** Throws too_many_cards, payment_pace_exceeded; the account is locked until the transaction ends. */
export async function demandCardRoom(transaction: Queryable, account: string): Promise<void> {
  await demandCardPace(transaction, account)
  const { rows } = await transaction.query<{ count: string }>(
    "select count(*) from payment_methods where account = $1 and state in ('pending', 'active')",
    [account],
  )
  if (Number(rows[0]?.count) >= METHODS_MAX)
    throw fault('too_many_cards', `Could not add the card: there are ${METHODS_MAX}`)
}

/** Throws payment_pace_exceeded; the account is locked until the transaction ends. */
export async function demandCardPace(transaction: Queryable, account: string): Promise<void> {
  await lockAccount(transaction, account)
  await demandPace(transaction, {
    account,
    times: 'select created_at as at from payment_methods where account = $1',
    most: CARDS_PER_DAY_MAX,
    refusal: `Could not add the card: ${CARDS_PER_DAY_MAX} were tried in a day`,
  })
}

/** Throws payment_pace_exceeded; the account is locked until the transaction ends. */
export async function demandPaymentPace(transaction: Queryable, account: string): Promise<void> {
  await lockAccount(transaction, account)
  await demandPace(transaction, {
    account,
    times: `select changed_at as at from payments where account = $1
      and (payment_under_way(state) or state = 'failed' or state = 'voided' and lives_until is null)`,
    most: FAILURES_PER_DAY_MAX,
    refusal: `Could not begin the payment: ${FAILURES_PER_DAY_MAX} failed or were given up in a day, or may fail`,
  })
}

type DayPace = {
  readonly account: string
  /** The query of the times that count. */
  readonly times: string
  readonly most: number
  readonly refusal: string
}

/** Throws payment_pace_exceeded where that number happened within a day. */
export async function demandPace(
  transaction: Queryable,
  { account, times, most, refusal }: DayPace,
): Promise<void> {
  const { rows } = await transaction.query<{ wait_s: number }>(
    `select ceil(extract(epoch from at + interval '1 day' - ledger_now()))::int as wait_s from (${times}) t
     where at > ledger_now() - interval '1 day' order by at desc offset $2 limit 1`,
    [account, most - 1],
  )
  const waitS = rows[0]?.wait_s
  if (waitS !== undefined) throw fault('payment_pace_exceeded', refusal, { retryAfterS: waitS })
}
