// The tariff of a session: the agent publishes it with its windows, each tick returns it.
import { fault } from '#contract/errors.ts'
import type { CarbonFactor, EnergyBand, EnergyMethod } from '#contract/ledger/charge.ts'
import { NO_RATES, usableRates, type IndirectRates } from '#contract/ledger/indirect-rates.ts'

export type Tariff = {
  readonly meter: string
  readonly method: EnergyMethod
  readonly bandPct: string
  /** Dynamic energy per CPU-second of attributed work, PUE included. */
  readonly njPerCpuS: bigint
  readonly pueMilli: string
  /** operator/region/silicon of this node. */
  readonly routedTo: string
  readonly factor: CarbonFactor
  /** Of the node's GPU, where that has a meter. */
  readonly gpu?: GpuTariff
  /** Rates of the CPU that requests cause in shared cells. */
  readonly indirect: IndirectRates
}

/** Dynamic energy of the cards per second of steps, PUE included. */
export type GpuRate = EnergyBand & { readonly njPerGpuS: bigint }

/** The price of the time in which steps of a request run on the GPU; the rate is that of a model without its own. */
export type GpuTariff = GpuRate & {
  readonly meter: string
  /** Each model has the name of its cell. */
  readonly models: ReadonlyMap<string, GpuRate>
}

export type GpuRateBody = {
  readonly method: EnergyMethod
  readonly band_pct: string
  readonly nj_per_gpu_s: string
}

export type GpuTariffBody = GpuRateBody & {
  readonly meter: string
  /** Absent in the tariff of an earlier version, until the meter publishes its own. */
  readonly models?: Readonly<Record<string, GpuRateBody>>
}

/** The body as it is stored in the table `tariffs`. */
export type TariffBody = {
  readonly meter: string
  readonly method: EnergyMethod
  readonly band_pct: string
  readonly nj_per_cpu_s: string
  readonly pue_milli: string
  readonly routed_to: string
  readonly factor: CarbonFactor
  readonly gpu?: GpuTariffBody
  /** Absent until something was learned. */
  readonly indirect?: IndirectRates
}

/** Reads a published tariff, without damaged rates; throws state_unavailable when there is none yet. */
export function readTariff(body: unknown): Tariff {
  if (body === null || body === undefined)
    throw fault(
      'state_unavailable',
      'Could not price the request: the meter has published no tariff yet',
      {
        retryAfterS: 1,
      },
    )
  const raw = body as TariffBody
  return {
    meter: raw.meter,
    method: raw.method,
    bandPct: raw.band_pct,
    njPerCpuS: BigInt(raw.nj_per_cpu_s),
    pueMilli: raw.pue_milli,
    routedTo: raw.routed_to,
    factor: raw.factor,
    ...(raw.gpu === undefined ? {} : { gpu: gpuTariffOf(raw.gpu) }),
    indirect: usableRates(raw.indirect ?? NO_RATES),
  }
}

const gpuTariffOf = (raw: GpuTariffBody): GpuTariff => ({
  meter: raw.meter,
  ...gpuRateOf(raw),
  models: new Map(Object.entries(raw.models ?? {}).map(([cell, rate]) => [cell, gpuRateOf(rate)])),
})

const gpuRateOf = (raw: GpuRateBody): GpuRate => ({
  method: raw.method,
  bandPct: Number(raw.band_pct),
  njPerGpuS: BigInt(raw.nj_per_gpu_s),
})
