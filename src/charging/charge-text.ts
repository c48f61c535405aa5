// The canonical text of a charge that we made ourselves, fast: its members in the order of RFC 8785, which for these
// names is the alphabet's. canonicalJson takes 9.7 µs, JSON.stringify of an object in that order 1.3, this 0.6. A
// test holds it equal to canonicalJson.
import type { CarbonFactor, Charge, ChargePart } from '#contract/charge.ts'

export const chargeText = (c: Charge): string =>
  `{"account":${text(c.account)},"carbon_pg":"${c.carbon_pg}","charge_pusd":"${c.charge_pusd}"` +
  `${member('completion_tokens', c.completion_tokens)},"energy_nj":"${c.energy_nj}"` +
  `,"env":"${c.env}","factor":${factorText(c.factor)},"free":${c.free},"from":${text(c.from)}` +
  `,"id":${text(c.id)}${member('model', c.model)},"operation":${text(c.operation)}` +
  `,"parts":[${c.parts.map(partText).join(',')}],"price_id":${text(c.price_id)}` +
  `${member('prompt_tokens', c.prompt_tokens)},"pue_milli":"${c.pue_milli}"` +
  `,"pusd_per_j":"${c.pusd_per_j}","request":${text(c.request)}${member('requests', c.requests)}` +
  `${member('resource', c.resource)},"routed_to":${text(c.routed_to)},"salt":${text(c.salt)}` +
  `,"seq":"${c.seq}","session":${text(c.session)},"status":${c.status},"tier":"${c.tier}"` +
  `,"to":${text(c.to)}${member('token', c.token)},"unit":"${c.unit}","v":"${c.v}"}`

/** A string as JSON. What has nothing to escape needs no more than quotes. */
const text = (value: string): string => (PLAIN.test(value) ? `"${value}"` : JSON.stringify(value))
const PLAIN = /^[ !#-[\]-~]*$/

const member = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${text(value)}`

const partText = ({ band_pct, energy_nj, factor, meter, method }: ChargePart): string =>
  `{"band_pct":"${band_pct}","energy_nj":"${energy_nj}"` +
  `${factor === undefined ? '' : `,"factor":${factorText(factor)}`}` +
  `,"meter":${text(meter)},"method":"${method}"}`

/** Of every charge of a tariff the same. */
const factors = new WeakMap<CarbonFactor, string>()

function factorText(factor: CarbonFactor): string {
  const known = factors.get(factor)
  if (known !== undefined) return known
  const { basis, mg_per_kwh, source, year, zone } = factor
  const made = JSON.stringify({ basis, mg_per_kwh, source, year, zone })
  factors.set(factor, made)
  return made
}
