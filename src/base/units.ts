// Energy, money and carbon are integers: nanojoules, pico-dollars, picograms. Arithmetic on them
// lives here and nowhere else; a number with a decimal point is only ever text made by printDecimal.
declare const unit: unique symbol

/** Energy in nanojoules. */
export type Nj = bigint & { readonly [unit]: 'nJ' }
/** Money in pico-dollars (10⁻¹² of the unit USD or tUSD). */
export type Pusd = bigint & { readonly [unit]: 'pUSD' }
/** Carbon-dioxide equivalent in picograms. */
export type Pg = bigint & { readonly [unit]: 'pg' }
type Amount = Nj | Pusd | Pg

export const nj = (value: bigint): Nj => value as Nj
export const pusd = (value: bigint): Pusd => value as Pusd
export const pg = (value: bigint): Pg => value as Pg

export const NJ_PER_J = 1_000_000_000n
export const PUSD_PER_USD = 1_000_000_000_000n
const PG_PER_MG = 1_000_000_000n
const J_PER_KWH = 3_600_000n

// TypeScript types `a - b` of branded bigints as number; through plain parameters it is a bigint.
const plus = (a: bigint, b: bigint): bigint => a + b
const minus = (a: bigint, b: bigint): bigint => a - b

export const add = <A extends Amount>(a: A, b: A): A => plus(a, b) as A
export const subtract = <A extends Amount>(a: A, b: A): A => minus(a, b) as A
export const smaller = <A extends Amount>(a: A, b: A): A => (a < b ? a : b)
export const larger = <A extends Amount>(a: A, b: A): A => (a > b ? a : b)
export const isNegative = (a: Amount): boolean => a < 0n
export const sum = <A extends Amount>(amounts: Iterable<A>): A =>
  [...amounts].reduce((total, amount) => add(total, amount), 0n as A)

/** The price of an energy: floor(nJ × pUSD per joule / 10⁹). */
export const priceOf = (energy: Nj, pusdPerJoule: bigint): Pusd =>
  pusd((energy * pusdPerJoule) / NJ_PER_J)

/** The money to hold for an energy ceiling: the price rounded up, so that a charge never exceeds it. */
export const priceCeiling = (energy: Nj, pusdPerJoule: bigint): Pusd =>
  pusd((energy * pusdPerJoule + NJ_PER_J - 1n) / NJ_PER_J)

/**
 * The most energy whose price is within an amount of money. Up to a price of $0.001 a joule that price
 * is the whole amount: with any less a balance would keep a pico-dollar that never runs out.
 */
export const energyFor = (money: Pusd, pusdPerJoule: bigint): Nj =>
  nj(pusdPerJoule === 0n ? 0n : ((money + 1n) * NJ_PER_J - 1n) / pusdPerJoule)

/** Carbon of an energy: floor(nJ × mg/kWh × 10⁹ pg/mg ÷ 3.6·10¹⁵ nJ/kWh). */
export const carbonOf = (energy: Nj, mgPerKwh: bigint): Pg =>
  pg((energy * mgPerKwh * PG_PER_MG) / (J_PER_KWH * NJ_PER_J))

/** Energy with the overhead of the building: floor(nJ × milli / 1000). */
export const withPue = (energy: Nj, pueMilli: bigint): Nj => nj((energy * pueMilli) / 1000n)

/** Energy of an amount of CPU time at a tariff in nJ per CPU-second. */
export const energyOfCpu = (cpuNs: bigint, njPerCpuS: bigint): Nj =>
  nj((cpuNs * njPerCpuS) / 1_000_000_000n)

/**
 * The one printer of figures: a scaled integer as a plain decimal, no exponent, no trailing zeros.
 * printDecimal(1_500_000_000n, 9) is '1.5'; printDecimal(0n, 9) is '0'.
 */
export function printDecimal(value: bigint, scale: number): string {
  const negative = value < 0n
  const digits = (negative ? -value : value).toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

export const printJoules = (energy: Nj): string => printDecimal(energy, 9)
export const printMilligrams = (carbon: Pg): string => printDecimal(carbon, 9)
export const printUsd = (money: Pusd): string => printDecimal(money, 12)

/**
 * Splits a total by weights without losing or making a unit: each share is floor, the remainder goes
 * to the largest fractional parts (largest-remainder method), ties to the earlier index.
 */
export function splitByWeight(total: bigint, weights: readonly bigint[]): bigint[] {
  const all = weights.reduce((a, b) => a + b, 0n)
  if (all <= 0n) return weights.map(() => 0n)
  const shares = weights.map((weight) => (total * weight) / all)
  const order = weights
    .map((weight, index) => ({ index, rest: (total * weight) % all }))
    .toSorted((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest < b.rest ? 1 : -1))
  let left = total - shares.reduce((a, b) => a + b, 0n)
  for (const { index } of order) {
    if (left === 0n) break
    shares[index] = (shares[index] ?? 0n) + 1n
    left -= 1n
  }
  return shares
}
