// The figures of a request from its share of the CPU of its process, as a runtime of ours counted that.
import { carbonOf, nj, printJoules, printMilligrams } from '#base/units.ts'
import type { Tariff } from '#charging/tariff.ts'
import { TRAILERS } from '#http/energy-headers.ts'

export const SHARE_TRAILERS = `${TRAILERS}, X-Energy-Estimate`
const US_PER_S = 1_000_000n

/** None where the runtime said nothing that is a count. */
export function shareHeaders(
  cpuUs: string | string[] | undefined,
  tariff: Tariff | undefined,
): Record<string, string> {
  if (tariff === undefined || typeof cpuUs !== 'string' || !/^\d{1,12}$/.test(cpuUs)) return {}
  const energy = nj((BigInt(cpuUs) * tariff.njPerCpuS) / US_PER_S)
  return {
    'X-Energy-Joules': printJoules(energy),
    'X-Carbon-mg': printMilligrams(carbonOf(energy, BigInt(tariff.factor.mg_per_kwh))),
    'X-Energy-Method': `${tariff.method}; band=${tariff.bandPct}%`,
    'X-Energy-Estimate': 'share',
  }
}
