// A charge: what one request (or one minute of standing usage) cost. Its canonical bytes are at once
// the journal line, the preimage of the log leaf, the ledger row and the usage record. No zod here:
// signers import this file and must stay small.
import { isUtf8 } from 'node:buffer'
import { canonicalJson } from '#base/canonical-json.ts'
import { add, carbonOf, nj, pg, priceOf, type Nj, type Pg } from '#base/units.ts'
import { fault } from '#contract/errors.ts'

/** The tiers, the easiest first. */
export const TIERS = ['L0', 'L1', 'L2', 'L3'] as const
export type Tier = (typeof TIERS)[number]
export type MoneyUnit = 'USD' | 'tUSD'
/**
 * Origin of an energy figure: read from a sensor, modelled from CPU time or tokens, declared by an upstream, or
 * learned. A learned figure is the CPU that earlier requests of the operation caused in shared cells.
 */
export const ENERGY_METHODS = [
  'rapl',
  'plug',
  'redfish',
  'nvml',
  'model',
  'declared',
  'learned',
] as const
export type EnergyMethod = (typeof ENERGY_METHODS)[number]
export const LEARNED = 'learned' satisfies EnergyMethod
/** Name of the meter of a node's GPU, by that of the node's own meter. */
export const gpuMeterOf = (meter: string): string => `${meter}:gpu`

/** Origin of an energy figure, with its declared error band in percent. */
export type EnergyBand = { readonly method: EnergyMethod; readonly bandPct: number }

/**
 * One meter's share of a charge. `band_pct` is the declared error band in percent. Of energy that was spent
 * elsewhere, `factor` is that place's: neither the charge's nor its PUE are of such a part. `idle` marks what the
 * machine draws anyway and the charged cell reserved; what its work added is a part of its own.
 */
export type ChargePart = {
  readonly meter: string
  readonly method: EnergyMethod
  readonly band_pct: string
  readonly energy_nj: string
  readonly factor?: CarbonFactor
  readonly idle?: true
}

/** Where the carbon figure comes from. */
export type CarbonFactor = {
  readonly zone: string
  readonly mg_per_kwh: string
  readonly source: string
  readonly year: string
  readonly basis: string
}

/** The stored form: every value is text but status, parts, factor and free; absent means omitted. */
export type Charge = {
  readonly v: '1'
  readonly id: string
  /** The first request of those that share the charge. */
  readonly request: string
  /** Number of requests in the charge; absent for a single one. Only unattributed requests share a charge. */
  readonly requests?: string
  readonly session: string
  readonly seq: string
  readonly account: string
  readonly token?: string
  readonly operation: string
  readonly resource?: string
  /** The cell of the resource that used the energy: a workload has several. Only of cells that an account pays for. */
  readonly cell?: string
  readonly model?: string
  readonly tier: Tier
  readonly routed_to: string
  readonly status: number
  readonly from: string
  readonly to: string
  readonly parts: readonly ChargePart[]
  readonly energy_nj: string
  readonly carbon_pg: string
  readonly factor: CarbonFactor
  readonly pue_milli: string
  readonly price_id: string
  readonly pusd_per_j: string
  readonly free: boolean
  readonly charge_pusd: string
  readonly unit: MoneyUnit
  readonly env: 'live' | 'test'
  readonly prompt_tokens?: string
  readonly completion_tokens?: string
  /**
   * SHA-256 in hex of the product of the work, where the receipt signs it: the manifest of an evidence pack.
   */
  readonly subject_sha256?: string
  readonly salt: string
}

/** Carbon of parts: of those here, together, by the charge's factor; of each elsewhere by its own. */
export function carbonOfParts(parts: readonly ChargePart[], mgPerKwh: bigint): Pg {
  const energyOf = (some: readonly ChargePart[]) =>
    nj(some.reduce((sum, part) => sum + BigInt(part.energy_nj), 0n))
  const here = carbonOf(energyOf(parts.filter(({ factor }) => factor === undefined)), mgPerKwh)
  return parts.reduce(
    (sum, part) =>
      part.factor === undefined
        ? sum
        : add(sum, carbonOf(energyOf([part]), BigInt(part.factor.mg_per_kwh))),
    here,
  )
}

/** The bytes that are journaled, hashed, stored and signed. */
export const chargeBytes = (charge: Charge): Buffer => Buffer.from(canonicalJson(charge), 'utf8')

/** The energy of a charge without its learned part: what this request itself was measured to use. */
export const directEnergy = (charge: Charge): Nj =>
  charge.parts.reduce(
    (sum, part) => (part.method === LEARNED ? sum : add(sum, nj(BigInt(part.energy_nj)))),
    nj(0n),
  )
export const chargeEnergy = (charge: Charge): Nj => nj(BigInt(charge.energy_nj))
export const chargeCarbon = (charge: Charge): Pg => pg(BigInt(charge.carbon_pg))

/**
 * Reads charge bytes and recomputes everything that follows from other fields.
 * Throws ErgonError `charge_invalid` naming the first field that does not hold.
 */
export function parseCharge(bytes: Uint8Array): Charge {
  if (!isUtf8(bytes)) throw invalid('not UTF-8')
  const text = Buffer.from(bytes).toString('utf8')
  let charge: Charge
  try {
    charge = JSON.parse(text) as Charge
  } catch (cause) {
    throw invalid('not JSON', cause)
  }
  if (charge === null || typeof charge !== 'object') throw invalid('not an object')
  for (const check of CHECKS) {
    const fault = check(charge)
    if (fault !== undefined) throw invalid(fault)
  }
  if (!isCanonical(charge, text)) throw invalid('bytes are not canonical')
  return charge
}

// Signers read every charge. Text that JSON.stringify prints back unchanged, with its keys in order, is
// canonical already. Measured on a busy machine: 15 µs for a whole check; canonicalJson alone takes 21 µs.
const isCanonical = (charge: Charge, text: string): boolean =>
  JSON.stringify(charge) === text && text.isWellFormed() && isSorted(charge)

function isSorted(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.every(isSorted)
  const keys = Object.keys(value)
  return (
    keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key) &&
    Object.values(value).every(isSorted)
  )
}

const invalid = (detail: string, cause?: unknown) =>
  fault('charge_invalid', `Could not read the charge: ${detail}`, {
    cause,
  })

const INTEGER = /^(0|[1-9][0-9]*)$/
const COUNT = /^[1-9][0-9]*$/
const SHA256 = /^[0-9a-f]{64}$/
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const TEXTS = [
  'id',
  'request',
  'session',
  'account',
  'operation',
  'routed_to',
  'price_id',
  'salt',
] as const
const INTEGERS = [
  'seq',
  'energy_nj',
  'carbon_pg',
  'pue_milli',
  'pusd_per_j',
  'charge_pusd',
] as const

const CHECKS: readonly ((charge: Charge) => string | undefined)[] = [
  (c) => (c.v === '1' ? undefined : `unknown version "${String(c.v)}"`),
  (c) => TEXTS.find((key) => typeof c[key] !== 'string' || c[key] === ''),
  (c) => INTEGERS.find((key) => typeof c[key] !== 'string' || !INTEGER.test(c[key])),
  (c) => (Number.isInteger(c.status) ? undefined : 'status'),
  (c) => (c.requests === undefined || COUNT.test(c.requests) ? undefined : 'requests'),
  (c) =>
    c.subject_sha256 === undefined || SHA256.test(c.subject_sha256) ? undefined : 'subject_sha256',
  (c) => (TIMESTAMP.test(c.from) && TIMESTAMP.test(c.to) ? undefined : 'from or to'),
  (c) => (typeof c.free === 'boolean' ? undefined : 'free'),
  (c) => (c.unit === (c.env === 'test' ? 'tUSD' : 'USD') ? undefined : 'unit does not fit env'),
  (c) => (Array.isArray(c.parts) && c.parts.every(isPart) ? undefined : 'parts'),
  (c) => (isFactor(c.factor) ? undefined : 'factor'),
  (c) =>
    c.parts.reduce((sum, part) => sum + BigInt(part.energy_nj), 0n) === BigInt(c.energy_nj)
      ? undefined
      : 'energy_nj is not the sum of its parts',
  (c) =>
    carbonOfParts(c.parts, BigInt(c.factor.mg_per_kwh)) === BigInt(c.carbon_pg)
      ? undefined
      : 'carbon_pg does not follow from energy and factor',
  (c) =>
    (c.free ? 0n : priceOf(chargeEnergy(c), BigInt(c.pusd_per_j))) === BigInt(c.charge_pusd)
      ? undefined
      : 'charge_pusd does not follow from energy and price',
]

const isPart = (part: ChargePart): boolean =>
  typeof part?.meter === 'string' &&
  typeof part.method === 'string' &&
  INTEGER.test(part.band_pct) &&
  INTEGER.test(part.energy_nj) &&
  (part.idle === undefined || part.idle === true) &&
  (part.factor === undefined || isFactor(part.factor))

const isFactor = (factor: CarbonFactor): boolean =>
  typeof factor?.zone === 'string' &&
  INTEGER.test(factor.mg_per_kwh) &&
  typeof factor.source === 'string' &&
  INTEGER.test(factor.year) &&
  typeof factor.basis === 'string'
