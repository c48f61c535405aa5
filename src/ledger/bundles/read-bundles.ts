// Reads bundles by the facts in their rows. A bundle never changes and never goes: a reader asks for rows of `charges`
// first and for bundles second, and drops what it has twice. Sums are asked in one snapshot instead.
import { messageOf } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { Bundle } from './bundle.ts'
import { DamagedBundle } from './damage.ts'

export type BundleFilter = {
  readonly account?: string
  /** Charges with numbers below. */
  readonly below?: bigint
  /** Charges that ended at a time or later, and before another. */
  readonly from?: Date
  readonly to?: Date
  readonly operations?: readonly string[]
  readonly token?: string
  readonly resource?: string
  readonly id?: string
  /** Charges with numbers from one on. */
  readonly numberFrom?: bigint
  /** Bundles with charges both in and out of a span of time: its begin and end. */
  readonly cutBy?: readonly [Date, Date]
  /** Bundles that the sums of a span cannot take from their own sums: the span cuts them, or they have none. */
  readonly decodedOf?: readonly [Date, Date]
  /** Leaves from one on, and below another. */
  readonly leafFrom?: number
  readonly leafBelow?: number
}

/** A bundle with its place in the ledger. */
export type ReadBundle = {
  readonly account: string
  readonly firstSeq: bigint
  /** The last end of its charges. */
  readonly lastAt: Date
  readonly bundle: Bundle
}

type BundleOrder = keyof typeof ORDERS

function isCut(value: string): string {
  return `(first_at < (${value}::timestamptz[])[1] or last_at >= (${value}::timestamptz[])[2])`
}

const CONDITIONS: Readonly<Record<keyof BundleFilter, (value: string) => string>> = {
  account: (value) => `account = ${value}`,
  below: (value) => `first_seq < ${value}`,
  from: (value) => `last_at >= ${value}`,
  to: (value) => `first_at < ${value}`,
  operations: (value) => `operations && ${value}`,
  token: (value) => `tokens @> array[${value}]`,
  resource: (value) => `resources @> array[${value}]`,
  id: (value) => `id_range(first_id, last_id, '[]') @> ${value}::text`,
  numberFrom: (value) => `last_seq >= ${value}`,
  cutBy: isCut,
  decodedOf: (value) => `(sums is null or ${isCut(value)})`,
  leafFrom: (value) => `last_leaf >= ${value}`,
  leafBelow: (value) => `first_leaf < ${value}`,
}

// The newest first. Within an account numbers, leaves and bundles have one order.
const ORDERS = {
  number: ['first_seq', ({ first_seq: seq }: Row) => [seq]],
  time: ['last_at, first_seq', ({ last_at: at, first_seq: seq }: Row) => [at, seq]],
  // For an id. No index has this order: with one, the planner followed it through all rows, 129 ms of 50,000.
  id: ['last_id, first_seq', ({ last_id: id, first_seq: seq }: Row) => [id, seq]],
  leaf: ['first_leaf', ({ first_leaf: leaf }: Row) => [leaf]],
} as const

/** Bundles that are read at once, at most: most readers need one. */
const BATCH_MAX = 8

type Row = {
  account: string
  first_seq: string
  first_leaf: string
  last_at: Date
  last_id: string
  body: Buffer
}

/**
 * The bundles that may have charges of a filter, the newest first. Order them by leaf or id where they are of several
 * accounts. A damaged one throws DamagedBundle, or is passed over where `passOver` takes it.
 */
export async function* readBundles(
  state: Queryable,
  filter: BundleFilter,
  order: BundleOrder = 'number',
  passOver?: (damage: DamagedBundle) => void,
): AsyncGenerator<ReadBundle> {
  const [columns, placeOf] = ORDERS[order]
  const values: unknown[] = []
  const bind = (value: unknown) =>
    `$${values.push(typeof value === 'bigint' ? String(value) : value)}`
  const conditions = (Object.keys(filter) as (keyof BundleFilter)[]).map((name) =>
    CONDITIONS[name](bind(filter[name])),
  )
  const newestFirst = columns.replaceAll(/\w+/g, '$& desc')
  let last: Row | undefined
  for (let batch = 1; ; batch = Math.min(BATCH_MAX, 2 * batch)) {
    const own = values.length
    const after = last === undefined ? [] : [`(${columns}) < (${placeOf(last).map(bind).join()})`]
    const { rows } = await state.query<Row>(
      `select account, first_seq, first_leaf, last_at, last_id, body from charge_bundles
       where ${[...conditions, ...after].join(' and ') || 'true'} order by ${newestFirst} limit ${batch}`,
      values,
    )
    values.length = own
    for (const row of rows) {
      const read = opened(row)
      if (!(read instanceof DamagedBundle)) yield read
      else if (passOver === undefined) throw read
      else passOver(read)
    }
    last = rows.at(-1)
    if (rows.length < batch) return
  }
}

function opened({ account, first_seq: firstSeq, last_at: lastAt, body }: Row) {
  try {
    return { account, firstSeq: BigInt(firstSeq), lastAt, bundle: new Bundle(body) }
  } catch (error) {
    return new DamagedBundle({ account, firstSeq }, messageOf(error))
  }
}
