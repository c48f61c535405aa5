// The canonical text of a charge that we made ourselves, fast: JSON.stringify of an object whose keys are
// in sorted order already is RFC 8785. canonicalJson sorts each time: 9.7 µs against 1.3 µs. A test
// holds the two equal.
import type { CarbonFactor, Charge } from '#contract/ledger/charge.ts'

export function chargeText(c: Charge): string {
  return JSON.stringify({
    account: c.account,
    carbon_pg: c.carbon_pg,
    cell: c.cell,
    charge_pusd: c.charge_pusd,
    completion_tokens: c.completion_tokens,
    energy_nj: c.energy_nj,
    env: c.env,
    factor: sorted(c.factor),
    free: c.free,
    from: c.from,
    id: c.id,
    model: c.model,
    operation: c.operation,
    parts: c.parts.map(({ band_pct, energy_nj, factor, idle, meter, method }) => ({
      band_pct,
      energy_nj,
      factor: factor && sorted(factor),
      idle,
      meter,
      method,
    })),
    price_id: c.price_id,
    prompt_tokens: c.prompt_tokens,
    pue_milli: c.pue_milli,
    pusd_per_j: c.pusd_per_j,
    request: c.request,
    requests: c.requests,
    resource: c.resource,
    routed_to: c.routed_to,
    salt: c.salt,
    seq: c.seq,
    session: c.session,
    status: c.status,
    subject_sha256: c.subject_sha256,
    tier: c.tier,
    to: c.to,
    token: c.token,
    unit: c.unit,
    v: c.v,
  })
}

const sorted = ({ basis, mg_per_kwh, source, year, zone }: CarbonFactor): CarbonFactor => ({
  basis,
  mg_per_kwh,
  source,
  year,
  zone,
})
