// Electricity Maps, GET /v3/carbon-intensity/latest: what a zone consumes, flow-traced, lifecycle.
// The trap: a zone that it does not know silently becomes the zone of the caller's address, unless the
// fallback is switched off; the zone of the answer is checked as well.
import type { Secret } from '#base/log.ts'
import { createJsonReader, valueAt } from '#metering/json-reader.ts'
import { ADAPTER_TIMEOUT_MS, gramsAt, timeAt, unfit } from './answer.ts'
import type { CarbonAdapter } from '#metering/carbon.ts'

const NAME = 'Electricity Maps'
const BASE = 'https://api.electricitymaps.com'
// A figure is of one hour and appears within it; it serves one hour more while the next is awaited.
const VALID_MS = 2 * 3_600_000

export function createElectricityMaps(options: {
  readonly token: Secret
  readonly base?: string
}): CarbonAdapter {
  const reader = createJsonReader({ timeoutMs: ADAPTER_TIMEOUT_MS })
  return {
    name: NAME,
    async read({ zone, atMs }, signal) {
      const url = new URL('/v3/carbon-intensity/latest', options.base ?? BASE)
      url.searchParams.set('zone', zone)
      url.searchParams.set('emissionFactorType', 'lifecycle')
      url.searchParams.set('shouldUseFallbackCallerLookup', 'false')
      const answer = await reader.get(url, { 'auth-token': options.token.reveal() }, signal)
      requireText(answer, 'zone', zone)
      requireText(answer, 'emissionFactorType', 'lifecycle')
      const ofMs = timeAt(NAME, answer, ['datetime'])
      if (atMs >= ofMs + VALID_MS)
        throw unfit(NAME, `its figure is of ${new Date(ofMs).toISOString()}`)
      const estimated = valueAt(answer, ['isEstimated']) === true
      return {
        zone,
        mgPerKwh: gramsAt(NAME, answer, ['carbonIntensity']),
        source: NAME,
        year: new Date(ofMs).getUTCFullYear(),
        basis: `hourly-average-lifecycle-consumption${estimated ? '-estimated' : ''}`,
        lifecycle: true,
        estimated,
        validUntilMs: ofMs + VALID_MS,
      }
    },
    close: reader.close,
  }
}

function requireText(answer: unknown, key: string, expected: string): void {
  const found = valueAt(answer, [key])
  if (found !== expected) throw unfit(NAME, `${key} is ${String(found)}, not ${expected}`)
}
