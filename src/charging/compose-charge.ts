// Makes the charge of a finished piece of work from its terms, its parts and its server.
import { timestamp } from '#base/clock.ts'
import { takeRandom } from '#base/random.ts'
import { nj, sum, type Nj, type Pusd } from '#base/units.ts'
import { carbonOfParts, type Charge, type ChargePart } from '#contract/ledger/charge.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import type { Payer, Served } from './spend.ts'
import type { Tariff } from './tariff.ts'

/** Price, tariff and factors of the work, fixed at its first admit; time on a GPU has the tariff of its claim. */
export type BillingTerms = {
  readonly tariff: Tariff
  readonly priceId: string
  readonly pusdPerJ: bigint
}

export type FinishedWork = {
  readonly ids: { readonly receipt: string; readonly request: string }
  readonly record: { readonly session: string; readonly seq: bigint }
  readonly payer: Payer
  readonly operation: OperationName
  readonly served: Served
  readonly status: number
  readonly fromMs: number
  readonly toMs: number
  readonly terms: BillingTerms
  readonly parts: readonly ChargePart[]
  readonly cost: Pusd
  /** Number of requests that share the charge (default 1). */
  readonly requests?: number
}

export const energyOf = (parts: readonly ChargePart[]): Nj =>
  sum(parts.map((part) => nj(BigInt(part.energy_nj))))

export function composeCharge(finished: FinishedWork): Charge {
  const { payer, served, terms } = finished
  const { tariff } = terms
  const energy = energyOf(finished.parts)
  const charge: Writable<Charge> = {
    v: '1',
    id: finished.ids.receipt,
    request: finished.ids.request,
    session: finished.record.session,
    seq: finished.record.seq.toString(),
    account: payer.account,
    operation: finished.operation,
    tier: served.tier ?? fixedTier(finished.operation),
    routed_to: printable(served.routedTo ?? tariff.routedTo),
    status: finished.status,
    from: timestamp(finished.fromMs),
    to: timestamp(finished.toMs),
    parts: finished.parts,
    energy_nj: energy.toString(),
    carbon_pg: carbonOfParts(finished.parts, BigInt(tariff.factor.mg_per_kwh)).toString(),
    factor: tariff.factor,
    pue_milli: tariff.pueMilli,
    price_id: terms.priceId,
    pusd_per_j: terms.pusdPerJ.toString(),
    free: !payer.funded,
    charge_pusd: finished.cost.toString(),
    unit: payer.env === 'test' ? 'tUSD' : 'USD',
    env: payer.env,
    salt: takeRandom(16).toString('base64url'),
  }
  // Fields that may be absent, one by one: spreading five objects took longer than all the rest.
  if (finished.requests !== undefined && finished.requests > 1)
    charge.requests = String(finished.requests)
  if (payer.token !== undefined) charge.token = printable(payer.token)
  if (served.resource !== undefined) charge.resource = printable(served.resource)
  if (served.cell !== undefined) charge.cell = printable(served.cell)
  if (served.model !== undefined) charge.model = printable(served.model)
  if (served.promptTokens !== undefined) charge.prompt_tokens = String(served.promptTokens)
  if (served.completionTokens !== undefined)
    charge.completion_tokens = String(served.completionTokens)
  if (served.subjectSha256 !== undefined) charge.subject_sha256 = served.subjectSha256
  return charge
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

const FACT_LENGTH_MAX = 2048

// PostgreSQL's text and jsonb take no NUL and no lone surrogate: one of either, in the name of an
// object or a model, would make every later tick of the session fail.
const printable = (value: string): string =>
  value.length <= FACT_LENGTH_MAX && PLAIN.test(value)
    ? value
    : value.slice(0, FACT_LENGTH_MAX).replaceAll('\0', '\ufffd').toWellFormed()
const PLAIN = /^[ -~]*$/

/** The tier of operations that are not routed. */
export function fixedTier(operation: OperationName) {
  const { tier } = operationOf(operation)
  // An inference request that ended before it was routed was served by no tier: L0 by the table.
  return tier === 'router' ? 'L0' : tier
}
