// The transfers of an account's money in a span of time, the oldest first, and the balance before it.
import type { Queryable, State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'
import { TRANSFER_KIND } from './transfer-kind.ts'
import { sumUsage, type UsageSpan } from './usage.ts'

export type AccountTransfer = {
  readonly id: string
  readonly at: Date
  readonly kind: string
  /** Negative of money that left. */
  readonly amount: bigint
  readonly reference: string | null
}

/** Transfers of a span that are read at once; more need a shorter span. */
export const TRANSFERS_MAX = 1_000_000

const AMOUNT = `case when credit = 'money:' || $1 then amount else -amount end`
const OF_ACCOUNT = `(debit = 'money:' || $1 or credit = 'money:' || $1) and debit <> credit`

/** The transfers of an account in the order of their times; at most TRANSFERS_MAX and one. */
export async function readTransfers(
  state: Queryable,
  { account, from, to }: UsageSpan,
): Promise<readonly AccountTransfer[]> {
  const { rows } = await state.query<Omit<AccountTransfer, 'amount'> & { amount: string }>(
    `select 'tr_' || id as id, at, ${TRANSFER_KIND} as kind, (${AMOUNT})::text as amount,
       nullif(reference, '') as reference
     from transfers t where ${OF_ACCOUNT} and at >= $2 and at < $3 order by t.at, t.id limit $4`,
    [account, from, to, TRANSFERS_MAX + 1],
  )
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}

/** The money of an account at a moment: all that came and went before. */
export const balanceAt = (
  state: Pick<State, 'transaction'>,
  account: string,
  at: Date,
): Promise<bigint> =>
  inSnapshot(state, async (snapshot) => {
    const { rows } = await snapshot.query<{ moved: string }>(
      `select coalesce(sum(${AMOUNT}), 0)::text as moved from transfers where ${OF_ACCOUNT} and at < $2`,
      [account, at],
    )
    const span = { account, from: new Date(0), to: at }
    const [charged] = await sumUsage(snapshot, span, "''", { offset: 0, limit: 1 })
    return BigInt(rows[0]?.moved ?? 0) - BigInt(charged?.charge ?? 0)
  })
