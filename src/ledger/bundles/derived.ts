// Values of a charge that follow from its other values. A bundle keeps only those that differ from what follows.
import { carbonOf, nj, priceOf } from '#base/units.ts'

type Values = (name: string) => string | undefined

const WHOLE = /^\d{1,38}$/
const whole = (text: string | undefined): bigint | undefined =>
  text !== undefined && WHOLE.test(text) ? BigInt(text) : undefined

/** The sum of the parts' energies: they are the later values of the same key. */
function energyNj(of: Values): string | undefined {
  let sum = 0n
  for (let part = 1; ; part++) {
    const energy = of(`energy_nj.${part}`)
    if (energy === undefined) return sum.toString()
    sum += whole(energy) ?? 0n
  }
}

/** Of a charge without parts that were spent elsewhere. */
function carbonPg(of: Values): string | undefined {
  const [energy, factor] = [whole(of('energy_nj')), whole(of('mg_per_kwh'))]
  return energy === undefined || factor === undefined
    ? undefined
    : carbonOf(nj(energy), factor).toString()
}

function chargePusd(of: Values): string | undefined {
  const [energy, price] = [whole(of('energy_nj')), whole(of('pusd_per_j'))]
  if (of('free') === 'true') return '0'
  return energy === undefined || price === undefined
    ? undefined
    : priceOf(nj(energy), price).toString()
}

/** A change of any of these would change what bundles say: only `version` of bundle.ts may bring one. */
export const DERIVED: Readonly<Record<string, (of: Values) => string | undefined>> = {
  request: (of) => of('id')?.replace(/^rcpt_/, 'req_'),
  energy_nj: energyNj,
  carbon_pg: carbonPg,
  charge_pusd: chargePusd,
}
