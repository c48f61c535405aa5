// The carbon factor of this node, kept fresh: the built-in table, or a live source where one is set; and
// the marginal signal that is shown beside it, where its login is set.
import { sleep, systemClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import type { Config } from '#config/config.ts'
import {
  createCarbon,
  type Carbon,
  type CarbonAdapter,
  type CarbonStatus,
} from '#metering/carbon.ts'
import { createElectricityMaps } from '#metering/carbon/electricity-maps.ts'
import { createUkCarbonIntensity } from '#metering/carbon/uk-carbon-intensity.ts'
import { createWattTime } from '#metering/carbon/watttime.ts'
import { createMarginal, type Marginal, type MarginalStatus } from '#metering/marginal.ts'

const REFRESH_MS = 60_000

type CarbonConfig = Pick<
  Config,
  'carbonZone' | 'carbonSource' | 'carbonToken' | 'wattTimeLogin' | 'wattTimeRegion'
>

export type NodeCarbon = {
  readonly current: Carbon['current']
  status(): CarbonStatus & { readonly marginal?: MarginalStatus }
  close(): Promise<void>
}

/** Starts asking at once and each minute; until there is an answer the table serves and says so. */
export function startCarbon(config: CarbonConfig): NodeCarbon {
  const adapter = carbonAdapter(config)
  const carbon = createCarbon({
    zone: config.carbonZone,
    clock: systemClock,
    ...(adapter === undefined ? {} : { adapter }),
  })
  const marginal = marginalOf(config)
  const stopping = new AbortController()
  const refreshing = [adapter === undefined ? undefined : carbon, marginal].map((source) =>
    source === undefined ? undefined : refresh(source, stopping.signal),
  )
  return {
    current: carbon.current,
    status: () => ({
      ...carbon.status(),
      ...(marginal === undefined ? {} : { marginal: marginal.status() }),
    }),
    async close() {
      stopping.abort()
      await Promise.all(refreshing)
      await Promise.all([carbon.close(), marginal?.close()])
    },
  }
}

/** The carbon of one more kWh, where the settings have a login; `base` for tests. */
export function marginalOf(config: CarbonConfig, base?: string): Marginal | undefined {
  const login = config.wattTimeLogin
  const region = config.wattTimeRegion
  if (login === undefined || region === undefined) return undefined
  const source = createWattTime({
    login,
    clock: systemClock,
    ...(base === undefined ? {} : { base }),
  })
  return createMarginal({ source, region, clock: systemClock })
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

async function refresh(source: Pick<Carbon, 'refresh'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await source.refresh(signal)
    await sleep(REFRESH_MS, signal).catch(() => undefined)
  }
}
