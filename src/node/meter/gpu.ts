// The meter of the node's GPU: windows of its own, beside those of the machine. Its reading is split by the time of
// steps as the machine's is by CPU time, and its tariff, true-up and fallback are those of any meter.
import { systemClock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import type { GpuRateBody, GpuTariffBody } from '#charging/tariff.ts'
import type { Config } from '#config/config.ts'
import { toolEnvironment } from '#config/env.ts'
import { gpuMeterOf } from '#contract/ledger/charge.ts'
import { createGpuModel } from '#metering/gpu/gpu-model.ts'
import { openNvidiaSmi, type GpuSource, type NvidiaSmiOptions } from '#metering/gpu/nvidia-smi.ts'
import { createNodeMeter } from '#metering/node-meter.ts'
import type { CellTariff } from '#metering/pricing.ts'
import type { MeterSource } from '#metering/sources/source.ts'
import type { MeterStatus } from '#metering/status.ts'
import type { BilledByCell } from '#metering/true-up.ts'
import type { MeterWindow } from '#metering/window.ts'
import type { Ask } from '#node/cell-specs.ts'
import { askGpuTime, createGpuTime } from './gpu-time.ts'

export interface GpuMeter {
  /** Reads the time of the cells; before each window. */
  refresh(signal: AbortSignal): Promise<void>
  closeWindow(signal?: AbortSignal): Promise<MeterWindow>
  /** The tariff of requests from now on. */
  tariff(): GpuTariffBody
  status(): MeterStatus
}

/** The cards of this node, to be closed by the caller. Undefined where a meter at the wall has to do alone. */
export async function openGpuSource(
  config: Pick<Config, 'gpu' | 'plugUrl'>,
  options: Pick<NvidiaSmiOptions, 'log' | 'signal'> & Partial<NvidiaSmiOptions>,
): Promise<GpuSource | undefined> {
  if (config.gpu === 'off') return undefined
  const { log, signal, environment = toolEnvironment() } = options
  try {
    return await openNvidiaSmi({ environment, log, ...(signal === undefined ? {} : { signal }) })
  } catch (error) {
    if (config.plugUrl === undefined) throw error
    options.log.warn('The GPU has no meter of its own: requests pay for it by their CPU time', {
      error: messageOf(error),
    })
    return undefined
  }
}

/** Undefined without cards. */
export function createGpuMeter(
  source: GpuSource | undefined,
  deps: GpuMeterDeps,
): GpuMeter | undefined {
  if (source === undefined) return undefined
  const { cells, ask, log, pueMilli } = deps
  const gpuTime = createGpuTime(cells, systemClock)
  const name = gpuMeterOf(deps.meter)
  let processes = gpuTime.processes()
  const meter = createNodeMeter({
    meter: name,
    model: createGpuModel(source),
    sources: [source],
    busyNs: () => source.busyNs(),
    cells: gpuTime.read,
    billedByCell: deps.billedByCell,
    pueMilli,
    clock: systemClock,
  })
  return {
    async refresh(signal) {
      const now = gpuTime.processes()
      if (now !== processes || gpuTime.isLoading()) source.forgetIdle()
      processes = now
      await askGpuTime({ gpuTime, cells, ask, log, signal })
    },
    closeWindow: (signal) => meter.closeWindow(signal),
    tariff: () => ({
      meter: name,
      ...rateOf(meter.tariffs.others),
      models: Object.fromEntries(
        [...meter.tariffs.cells].map(([cell, tariff]) => [cell, rateOf(tariff)]),
      ),
    }),
    status: () => meter.status(),
  }
}

const rateOf = ({ njPerCpuS, known }: CellTariff): GpuRateBody => ({
  method: known.method,
  band_pct: String(known.bandPct),
  nj_per_gpu_s: njPerCpuS.toString(),
})

type GpuMeterDeps = {
  /** Name of the node's meter. */
  readonly meter: string
  readonly cells: Pick<Cells, 'list'>
  readonly billedByCell: () => BilledByCell
  readonly pueMilli: bigint
  readonly ask: Ask
  readonly log: Logger
}

/**
 * A sensor of the whole machine, less the cards, which have a meter of their own: no joule may be billed twice. While
 * the cards are silent the sensor says nothing either.
 */
export function withoutGpu(sensor: MeterSource, gpu: Pick<GpuSource, 'milliwatts'>): MeterSource {
  return {
    ...sensor,
    async read(signal) {
      const reading = await sensor.read(signal)
      if (reading.kind !== 'power') return reading
      const { milliwatts } = gpu
      if (milliwatts === undefined) return { kind: 'unavailable', reason: 'the GPU is silent' }
      const rest = reading.milliwatts - milliwatts
      return { kind: 'power', milliwatts: rest > 0n ? rest : 0n }
    },
  }
}
