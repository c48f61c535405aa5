// The proof of a bundle: its charges are those that the log has under their numbers, each of them and no other, and its
// row says of them what they say themselves.
import { Bundle } from '#ledger/bundles/bundle.ts'
import { chargesOf, type BundledCharge } from '#ledger/bundles/bundled-charge.ts'
import { sumCharges, sumsAs, type BundleSum } from '#ledger/bundles/bundle-sums.ts'
import { leafOf } from '#tlog/leaf.ts'

/** A row of `charge_bundles`. */
export type BundleRow = Omit<BundleFacts, 'sums'> & {
  readonly account: string
  readonly body: Buffer
  /** Null in bundles that were made before bundles had sums. */
  readonly sums: BundleFacts['sums'] | null
}

/** The facts in the row of a bundle about its charges. */
export type BundleFacts = {
  readonly first_seq: string
  readonly last_seq: string
  readonly first_leaf: string
  readonly last_leaf: string
  readonly first_at: Date
  readonly last_at: Date
  readonly first_id: string
  readonly last_id: string
  readonly operations: readonly string[]
  readonly tokens: readonly string[]
  readonly resources: readonly string[]
  readonly energy_nj: string
  readonly carbon_pg: string
  readonly charge_pusd: string
  readonly sums: readonly BundleSum[]
}

/** The charges of a bundle, the oldest first. Throws RangeError when its bytes are damaged. */
export const bundleCharges = (
  row: Pick<BundleRow, 'account' | 'first_seq' | 'body'>,
): BundledCharge[] =>
  [
    ...chargesOf({
      account: row.account,
      firstSeq: BigInt(row.first_seq),
      lastAt: new Date(0),
      bundle: new Bundle(row.body),
    }),
  ].toReversed()

/** The facts that the row of a bundle of these charges must have. */
export function factsOf(charges: readonly BundledCharge[]): BundleFacts {
  const ats = charges.map(({ at }) => at.getTime())
  const ids = charges.map(({ id }) => id).toSorted(byBytes)
  const sumOf = (key: 'energyNj' | 'carbonPg' | 'chargePusd') =>
    charges.reduce((sum, charge) => sum + charge[key], 0n).toString()
  const different = (values: readonly (string | null | undefined)[]) =>
    [...new Set(values.filter((value) => typeof value === 'string'))].toSorted(byBytes)
  return {
    first_seq: String(charges[0]?.accountSeq),
    last_seq: String(charges.at(-1)?.accountSeq),
    first_leaf: String(charges[0]?.leafIndex),
    last_leaf: String(charges.at(-1)?.leafIndex),
    first_at: new Date(Math.min(...ats)),
    last_at: new Date(Math.max(...ats)),
    first_id: ids[0] ?? '',
    last_id: ids.at(-1) ?? '',
    operations: different(charges.map(({ operation }) => operation)),
    tokens: different(charges.map((charge) => charge.value('token'))),
    resources: different(charges.map(({ resource }) => resource)),
    energy_nj: sumOf('energyNj'),
    carbon_pg: sumOf('carbonPg'),
    charge_pusd: sumOf('chargePusd'),
    sums: sumCharges(charges),
  }
}

/** The fault of a bundle; undefined when the bundle is proven. `hashes` are those of its leaves in the log. */
export function bundleFault(
  row: BundleRow,
  charges: readonly BundledCharge[],
  hashes: readonly (Buffer | undefined)[],
): string | undefined {
  const made = factsOf(charges)
  const facts = { ...made, sums: sumsAs(row.sums, made.sums) }
  const wrong = (Object.keys(facts) as (keyof BundleFacts)[]).find(
    (key) => JSON.stringify(facts[key]) !== JSON.stringify(row[key]),
  )
  if (wrong !== undefined)
    return `${wrong} is ${JSON.stringify(row[wrong])}, the charges say ${JSON.stringify(facts[wrong])}`
  for (const [nth, charge] of charges.entries()) {
    const { accountSeq, bytes, leafIndex } = charge
    if (hashes[nth]?.equals(leafOf({ accountSeq, bytes })) !== true)
      return `charge ${accountSeq} is not leaf ${leafIndex} of the log`
    if (charge.value('account') !== row.account) return `charge ${accountSeq} is of another account`
  }
  return undefined
}

const byBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
