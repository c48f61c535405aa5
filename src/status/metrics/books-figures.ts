// Figures of the books from the state: cheap enough for each scrape, with the result of the last check.
import { present } from '#base/errors.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { SIGNERS_READY } from '#receipts/signer-store.ts'
import type { SqlRow, State } from '#state/connect.ts'

export type BooksFigures = {
  /** Alarms that nobody has acknowledged. */
  readonly alarms: number
  readonly leaves: number
  /** Charges that are bundled, and the bytes of their bundles. */
  readonly bundled: { readonly charges: number; readonly bytes: number }
  readonly receiptsWaiting: number
  /** Signers that have a share and answer; undefined while nobody looks. */
  readonly signersReady: number | undefined
  /** Whole seconds since the books were checked; undefined before the first check. */
  readonly checkedAgeS: number | undefined
  /** They do not add up: nothing paid is admitted. */
  readonly isHalted: boolean
  /** No account pays for this energy of requests and logins; without the charges that the audit has not summed yet. */
  readonly unattributedJ: number
}

type BooksCheck = NonNullable<ControlAnswer<'node.status'>['books']>

const AGE = 'extract(epoch from ledger_now() - checked_at)::int'

// Leaves are in the order of the log; of the newest shard the last checkpoint says how many are sealed. The
// link to the shard before is a leaf of its own.
const FIGURES = `
  select (select count(*) from alarms where acknowledged_at is null)::text as alarms,
    (select size from log_head)::text as leaves, p.charges as bundled, p.bytes as bundled_bytes, ${SIGNERS_READY} as signers_ready,
    ((select size from log_head) - coalesce((
      select shard.first_leaf + coalesce(sealed.size, 0)
        - (case when shard.link is not null and sealed.size is not null then 1 else 0 end)
      from (select * from receipt_shards order by first_leaf desc, valid_from desc limit 1) shard
      left join lateral (
        select size from receipt_checkpoints where origin = shard.origin order by size desc limit 1
      ) sealed on true), 0))::text as waiting,
    (select ${AGE} from books) as age, (select halted_at is not null from books) as halted,
    coalesce((select energy_nj / 1e9 from audited_accounts where account = 'nobody'), 0)::float8 as unattributed_j
  from (select coalesce(sum(charges), 0)::text as charges, coalesce(sum(bytes), 0)::text as bytes
    from bundled_accounts) p`

/** Asks the state. Rejects when it does not answer. */
export async function booksFigures(state: State): Promise<BooksFigures> {
  const { rows } = await state.query<Figures>(FIGURES)
  const row = present(rows[0], 'the figures have a row')
  return {
    alarms: Number(row.alarms),
    leaves: Number(row.leaves),
    bundled: { charges: Number(row.bundled), bytes: Number(row.bundled_bytes) },
    receiptsWaiting: Number(row.waiting),
    signersReady: row.signers_ready ?? undefined,
    checkedAgeS: row.age ?? undefined,
    isHalted: row.halted,
    unattributedJ: row.unattributed_j,
  }
}
type Figures = {
  alarms: string
  leaves: string
  bundled: string
  bundled_bytes: string
  waiting: string
  signers_ready: number | null
  age: number | null
  halted: boolean
  unattributed_j: number
}

// The faults of a check are alarmed together, when it halts the books.
const CHECK = `
  select ${AGE} as checked_age_s, halted_at, case when halted_at is null then '[]' else (
    select coalesce(json_agg(detail order by id), '[]') from (
      select id, detail from alarms where kind = 'books_do_not_add_up' and at = (
        select max(at) from alarms where kind = 'books_do_not_add_up')
      order by id limit $1) found) end as faults
  from books`
const FAULTS_MAX = 5

/** The result of the last check of the books. Rejects when the state does not answer. */
export async function booksCheck(state: State): Promise<BooksCheck> {
  const { rows } = await state.query<
    SqlRow & Omit<BooksCheck, 'halted_at'> & { halted_at: Date | null }
  >(CHECK, [FAULTS_MAX])
  const { halted_at: haltedAt, ...row } = present(rows[0], 'the books have a row')
  return { ...row, halted_at: haltedAt?.toISOString() ?? null }
}
