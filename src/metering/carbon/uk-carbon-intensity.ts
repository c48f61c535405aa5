// Great Britain by the half hour, without a key (api.carbonintensity.org.uk, CC BY 4.0). Its factors
// give 0 to nuclear, wind, water and sun: direct emissions, not comparable with lifecycle figures.
import { createJsonReader, valueAt } from '#metering/json-reader.ts'
import { ADAPTER_TIMEOUT_MS, gramsAt, timeAt, unfit } from './answer.ts'
import type { CarbonAdapter } from '#metering/carbon.ts'

const NAME = 'UK Carbon Intensity'
const BASE = 'https://api.carbonintensity.org.uk'

/** The zone GB. Until the half hour has been measured, its forecast, marked as estimated. */
export function createUkCarbonIntensity(options: { readonly base?: string } = {}): CarbonAdapter {
  const reader = createJsonReader({ timeoutMs: ADAPTER_TIMEOUT_MS })
  const url = new URL('/intensity', options.base ?? BASE)
  return {
    name: NAME,
    async read({ zone, atMs }, signal) {
      if (zone !== 'GB') throw unfit(NAME, `it knows GB only, not ${zone}`)
      const answer = await reader.get(url, {}, signal)
      const fromMs = timeAt(NAME, answer, ['data', 0, 'from'])
      const validUntilMs = timeAt(NAME, answer, ['data', 0, 'to'])
      if (atMs >= validUntilMs) throw unfit(NAME, 'its half hour has ended')
      const estimated = valueAt(answer, ['data', 0, 'intensity', 'actual']) == null
      const field = estimated ? 'forecast' : 'actual'
      return {
        zone,
        mgPerKwh: gramsAt(NAME, answer, ['data', 0, 'intensity', field]),
        source: NAME,
        year: new Date(fromMs).getUTCFullYear(),
        basis: `half-hourly-average-direct-${field}`,
        lifecycle: false,
        estimated,
        validUntilMs,
      }
    },
    close: reader.close,
  }
}
