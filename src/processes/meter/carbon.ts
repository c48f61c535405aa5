// The carbon factor of this node, kept fresh: the built-in table, or a live source where one is set.
import { sleep, systemClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import type { Config } from '#config/config.ts'
import { createCarbon, type Carbon, type CarbonAdapter } from '#metering/carbon.ts'
import { createElectricityMaps } from '#metering/carbon/electricity-maps.ts'
import { createUkCarbonIntensity } from '#metering/carbon/uk-carbon-intensity.ts'

const REFRESH_MS = 60_000

type CarbonConfig = Pick<Config, 'carbonZone' | 'carbonSource' | 'carbonToken'>

/** Starts asking at once and each minute; until there is an answer the table serves and says so. */
export function startCarbon(config: CarbonConfig): Pick<Carbon, 'current' | 'status' | 'close'> {
  const adapter = carbonAdapter(config)
  const carbon = createCarbon({
    zone: config.carbonZone,
    clock: systemClock,
    ...(adapter === undefined ? {} : { adapter }),
  })
  const stopping = new AbortController()
  const refreshing = adapter === undefined ? undefined : refresh(carbon, stopping.signal)
  return {
    current: carbon.current,
    status: carbon.status,
    async close() {
      stopping.abort()
      await refreshing
      await carbon.close()
    },
  }
}

/** The live source that the settings name. */
export function carbonAdapter(config: CarbonConfig): CarbonAdapter | undefined {
  switch (config.carbonSource) {
    case undefined:
      return undefined
    case 'uk':
      return createUkCarbonIntensity()
    case 'electricity-maps':
      return createElectricityMaps({
        token: present(config.carbonToken, 'the settings demand a token'),
      })
  }
}

async function refresh(carbon: Carbon, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await carbon.refresh(signal)
    await sleep(REFRESH_MS, signal).catch(() => undefined)
  }
}
