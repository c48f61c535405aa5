// Rows of the ledger: entries of the API and charges of the live stream in one form, with the balance after each.
import type { ReplyOf } from '#console/client/operations.ts'
import { howOf, type How } from '#console/figures/known.ts'
import type { LiveCharge } from '#console/live/state.ts'

type Entry = ReplyOf<'GET /v1/ledger'>['data'][number]

export type Row = {
  readonly id: string
  readonly at: string
  readonly kind: Entry['kind']
  readonly service: string | null
  readonly operation: string | null
  /** The resource, or the model. */
  readonly subject: string | null
  /** The gain of the balance. */
  readonly amount: bigint
  readonly nj: bigint | null
  readonly how: How | null
  readonly leafHash: string | undefined
  /** The token that asked, where the entry tells it. */
  readonly token: string | null
}
/** `after` is the balance once this was posted; undefined where it is not known. */
export type BalancedRow = Row & { readonly after: bigint | undefined }

export const rowOfEntry = (entry: Entry): Row => ({
  id: entry.id,
  at: entry.at,
  kind: entry.kind,
  service: entry.service,
  operation: entry.operation,
  subject: resourceOf(entry),
  amount: BigInt(entry.amount_pusd),
  nj: entry.energy_nj === null ? null : BigInt(entry.energy_nj),
  how: entry.method === null ? null : howOf(entry),
  leafHash: entry.leaf_hash ?? undefined,
  token: entry.token,
})

/** A live charge has no hash yet: its receipt is being signed. */
export const rowOfCharge = (charge: LiveCharge): Row => ({
  id: charge.id,
  at: charge.at,
  kind: 'charge',
  service: charge.service,
  operation: charge.operation,
  subject: charge.model ?? null,
  amount: -BigInt(charge.charge_pusd),
  nj: BigInt(charge.energy_nj),
  how: howOf(charge),
  leafHash: undefined,
  token: null,
})

/** `s3:photos/cat.jpg` is photos/cat.jpg; ids of resources say nothing to people where there is a model. */
function resourceOf({ resource, model, reference }: Entry): string | null {
  if (resource === null) return model ?? reference
  const name = resource.slice(resource.indexOf(':') + 1)
  return name === '' ? model : name
}

/** The subject of a row, by its name where the account still has one: an id says nothing to people. */
export const subjectOf = (
  { subject }: Pick<Row, 'subject'>,
  resources: ReadonlyMap<string, { readonly name: string }>,
): string | null => (subject === null ? null : (resources.get(subject)?.name ?? subject))

/** True for charges of the installation's own probe: those of its token, and of what its bucket keeps. */
export const isOfProbe = (
  { token, subject }: Pick<Row, 'token' | 'subject'>,
  probe: Probe | undefined,
): boolean =>
  probe !== undefined &&
  ((token !== null && probe.tokens.has(token)) || subject?.split('/', 1)[0] === probe.bucket)

/** Tokens and the bucket of the installation's own probe, which the operator's account has. */
export type Probe = { readonly tokens: ReadonlySet<string>; readonly bucket: string }

/**
 * Live charges before the entries that the API gave, none of them twice. The stream keeps charges that are older than
 * those entries, and of the day before: such charges are in other pages, or in none since the moment `from`.
 */
export function joined(live: readonly Row[], read: readonly Row[], from?: string): readonly Row[] {
  const ids = new Set(read.map(({ id }) => id))
  const firstMs = Math.max(...[read[0]?.at, from].map((at) => (at ? Date.parse(at) : -Infinity)))
  const isFresh = ({ id, at }: Row) => !ids.has(id) && Date.parse(at) >= firstMs
  return [...live.filter(isFresh), ...read]
}

type Known = {
  /** Of the moment at which the read rows were read; undefined where rows are left out by a filter. */
  readonly balance: bigint | undefined
  /** The rows before the read ones are all that came since. */
  readonly isFreshWhole: boolean
}

/** Adds the balance after each row. The last `readCount` rows are read ones. */
export function balanced(
  rows: readonly Row[],
  readCount: number,
  { balance, isFreshWhole }: Known,
): readonly BalancedRow[] {
  if (balance === undefined) return rows.map((row) => ({ ...row, after: undefined }))
  const freshCount = rows.length - readCount
  let after = rows.slice(0, freshCount).reduce((sum, { amount }) => sum + amount, balance)
  return rows.map((row, nth) => {
    const own = after
    after -= row.amount
    return { ...row, after: nth < freshCount && !isFreshWhole ? undefined : own }
  })
}
