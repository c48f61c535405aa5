// A charge in a bundle, with the fields that a row of `charges` has.
import { MEASURED_METHODS } from '#contract/ledger/known.ts'
import type { Queryable } from '#state/connect.ts'
import type { DamagedBundle } from './damage.ts'
import { readBundles, type BundleFilter, type ReadBundle } from './read-bundles.ts'

/** Fields that need the whole charge, or are seldom asked for, are getters. */
export class BundledCharge {
  readonly account: string
  readonly accountSeq: bigint
  readonly #bundle: ReadBundle['bundle']
  readonly #nth: number

  constructor({ account, firstSeq, bundle }: ReadBundle, nth: number) {
    this.account = account
    this.accountSeq = firstSeq + BigInt(nth)
    this.#bundle = bundle
    this.#nth = nth
  }

  get leafIndex(): number {
    return this.#bundle.leafIndex(this.#nth)
  }
  get bytes(): Buffer {
    return this.#bundle.bytes(this.#nth)
  }
  get id(): string {
    return this.value('id') ?? ''
  }
  get operation(): string {
    return this.value('operation') ?? ''
  }
  get at(): Date {
    return new Date(this.value('to') ?? Number.NaN)
  }
  get energyNj(): bigint {
    return BigInt(this.value('energy_nj') ?? '0')
  }
  get carbonPg(): bigint {
    return BigInt(this.value('carbon_pg') ?? '0')
  }
  get chargePusd(): bigint {
    return BigInt(this.value('charge_pusd') ?? '0')
  }
  /** The part of the energy that a sensor read. */
  get measuredNj(): bigint {
    let sum = 0n
    for (let part = 0; ; part++) {
      const method = this.value(part === 0 ? 'method' : `method.${part}`)
      if (method === undefined) return sum
      if (MEASURED_METHODS.includes(method))
        sum += BigInt(this.value(`energy_nj.${part + 1}`) ?? '0')
    }
  }
  /** The energy of each part times its band in percent. */
  get bandWeight(): bigint {
    let sum = 0n
    for (let part = 0; ; part++) {
      const band = this.value(part === 0 ? 'band_pct' : `band_pct.${part}`)
      if (band === undefined) return sum
      sum += BigInt(band) * BigInt(this.value(`energy_nj.${part + 1}`) ?? '0')
    }
  }
  /** The id of the resource; null of requests and of buckets, as in the table. */
  get resource(): string | null {
    const resource = this.value('resource')
    return resource === undefined || resource.startsWith('s3:')
      ? null
      : (resource.split(':')[1] ?? '')
  }

  /** A field by its key; undefined where the charge has none. */
  value(name: string): string | undefined {
    return this.#bundle.value(name, this.#nth)
  }
}

/** The charges of a bundle, the newest first. */
export function* chargesOf(read: ReadBundle): Generator<BundledCharge> {
  for (let nth = read.bundle.count - 1; nth >= 0; nth--) yield new BundledCharge(read, nth)
}

/** A bundled charge by its id; of these accounts where they are known: fewer bundles of its time are then decoded. */
export async function findBundled(
  state: Queryable,
  id: string,
  accounts?: readonly string[],
): Promise<BundledCharge | undefined> {
  // Damage of another bundle of that time, often of another account, must not hide the charge.
  let damage: DamagedBundle | undefined
  const passOver = (met: DamagedBundle) => void (damage ??= met)
  for (const account of accounts ?? [undefined]) {
    const filter = { id, ...(account !== undefined && { account }) }
    for await (const read of readBundles(state, filter, 'id', passOver)) {
      const nth = read.bundle.find(id)
      if (nth !== undefined) return new BundledCharge(read, nth)
    }
  }
  if (damage !== undefined) throw damage
  return undefined
}

/** At most `limit` bundled charges of an account with numbers below one, the newest first. */
export async function bundledBelow(
  state: Queryable,
  filter: BundleFilter & { readonly account: string; readonly below: bigint },
  {
    limit,
    isWanted,
  }: { readonly limit: number; readonly isWanted?: (charge: BundledCharge) => boolean },
): Promise<BundledCharge[]> {
  const found: BundledCharge[] = []
  if (limit <= 0) return found
  for await (const read of readBundles(state, filter))
    for (const charge of chargesOf(read)) {
      if (charge.accountSeq >= filter.below || isWanted?.(charge) === false) continue
      found.push(charge)
      if (found.length === limit) return found
    }
  return found
}
