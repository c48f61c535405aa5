// The meter of this node, wired: sensors or the processor model, the cells' CPU, and the bills of the gateways.
import { systemClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { add, energyOfCpu, nj, withPue, type Nj } from '#base/units.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { TariffBody } from '#charging/tariff.ts'
import type { Config } from '#config/config.ts'
import { factorOf } from '#metering/carbon.ts'
import { createIndirectLearner } from '#metering/indirect.ts'
import { usableRates, type IndirectRates } from '#contract/ledger/indirect-rates.ts'
import { parseRates } from '#contract/ledger/stored-rates.ts'
import { indirectStatus, type IndirectStatus } from '#metering/indirect-status.ts'
import { createNodeMeter, type NodeMeter } from '#metering/node-meter.ts'
import { createBusyReader } from '#metering/sources/busy.ts'
import type { GpuSource } from '#metering/gpu/nvidia-smi.ts'
import type { CpuModel } from '#metering/sources/model.ts'
import type { MeterSource } from '#metering/sources/source.ts'
import type { MeterStatus } from '#metering/status.ts'
import type { MeterWindow } from '#metering/window.ts'
import type { State } from '#state/connect.ts'
import { createCalibrator, type Calibrator } from './calibrate.ts'
import { startCarbon, type NodeCarbon } from './carbon.ts'
import { askCaused, createCausedCpu } from './caused-cpu.ts'
import { createCellReader, reservedPpb, type CellReader } from './cells.ts'
import { openAsk } from '#node/cell-specs.ts'
import { askGateways, createBills, type Bills } from './gateway-bills.ts'
import { createGpuMeter, openGpuSource, type GpuMeter } from './gpu.ts'
import { openModel } from './model.ts'
import { openSensors } from './sources.ts'
import { askUpkeep, createNodeUpkeep } from './upkeep.ts'

export type Meter = {
  /** Reads the totals that the gateways have billed, and the payers that cells worked for; before each window. */
  refresh(signal: AbortSignal): Promise<void>
  /** Closes the window that began at the close before; one at a time. */
  closeWindow(signal?: AbortSignal): Promise<MeterWindow>
  /** The same of the GPU; undefined where that has no meter. */
  closeGpuWindow(signal?: AbortSignal): Promise<MeterWindow | undefined>
  /** Estimates before the next window: the energy that a cell has used since the last window, and its greatest power. */
  ahead(cell: Cell): CellAhead
  /** When the cells were last read for a window, by the monotonic clock. */
  readMs(): number
  /** Writes the tariff that sessions bill at from now on, where it is another one than before. */
  publish(state: Pick<State, 'query'>): Promise<void>
  /** The status for `ergon meter`. */
  status(): MeterStatus & {
    readonly carbon: ReturnType<NodeCarbon['status']>
    readonly indirect: IndirectStatus
    /** Of the GPU, where that has a meter. */
    readonly gpu?: MeterStatus
  }
  /** `ergon meter calibrate`. */
  readonly calibrate: Calibrator
  close(): Promise<void>
}

/** As of now. */
export type CellAhead = {
  /** Reads the CPU of the cell, once. */
  readonly used: () => Nj
  /** Since the last window. */
  readonly elapsedMs: number
  /** All processors of the machine, and its part of the idle power. */
  readonly mostNjPerMs: bigint
  /** Processors of the machine. */
  readonly cpus: number
}

export async function createMeter(deps: {
  config: Config
  cells: Cells
  name: string
  routedTo: string
  /** Where a calibration is kept. */
  calibrationFile: string
  /** Rates of indirect CPU that an earlier life learned. */
  learned?: IndirectRates
  /** For programs that are started (default: the part of our own that such programs get). */
  environment?: Readonly<Record<string, string>>
  /** Gives up the start. */
  signal: AbortSignal
  log: Logger
}): Promise<Meter> {
  const { config, cells, name, calibrationFile, log } = deps
  await using opened = new AsyncDisposableStack()
  const model = openModel(calibrationFile, log)
  const carbon = opened.adopt(startCarbon(config), (one) => one.close())
  const busy = opened.adopt(createBusyReader(), (one) => one.close())
  const bills = createBills()
  const indirect = createIndirectLearner(deps.learned)
  const caused = createCausedCpu()
  const upkeep = createNodeUpkeep()
  const asking = opened.adopt(openAsk(), (one) => one.close())
  const gpuSource = await openGpuSource(config, deps)
  opened.defer(() => gpuSource?.close())
  const reader = createCellReader(cells, systemClock, caused)
  const meter = createNodeMeter({
    meter: name,
    model,
    sources: sensorsOf(config, { model, gpuSource, log }),
    busyNs: () => busy.busyNs(),
    cells: reader.read,
    billed: () => bills.total(),
    pueMilli: config.pueMilli,
    clock: systemClock,
  })
  opened.defer(() => meter.close())
  const gpu = createGpuMeter(gpuSource, {
    meter: name,
    cells,
    billedByCell: bills.totalGpu,
    pueMilli: config.pueMilli,
    ask: asking.ask,
    log,
  })
  const all = opened.move()
  const body = () => bodyOf(deps, { meter, carbon, gpu, indirect, bills })
  return {
    refresh: refreshOf({ bills, caused, upkeep, cells, ask: asking.ask, gpu, log }),
    async closeWindow(signal) {
      const window = await meter.closeWindow(signal)
      const cpuNs = cpuOf(window, answering(cells))
      indirect.observe({ ...window, cpuNs, activity: bills.activity(), upkeep: upkeep.next() })
      return window
    },
    closeGpuWindow: async (signal) => gpu?.closeWindow(signal),
    ahead: aheadOf({ reader, model, pueMilli: config.pueMilli, tariff: meter }),
    readMs: () => reader.readMs,
    publish: createPublish(name, body, () => indirect.revision),
    status: () => ({
      ...meter.status(),
      carbon: carbon.status(),
      indirect: indirectStatus(indirect),
      ...(gpu === undefined ? {} : { gpu: gpu.status() }),
    }),
    calibrate: createCalibrator({ config, calibrationFile, gpu: gpuSource }),
    close: () => all.disposeAsync(),
  }
}

/** The sensors, with a warning for those that nobody calibrated. */
function sensorsOf(
  config: Config,
  about: {
    readonly model: Pick<CpuModel, 'linear'>
    readonly gpuSource: GpuSource | undefined
    readonly log: Logger
  },
): MeterSource[] {
  const { model, gpuSource, log } = about
  const sources = openSensors(config, gpuSource)
  // The idle power of a machine differs by ten times between sensors; the model guesses it.
  if (sources.length > 0 && model.linear && config.sensorIdleMilliwatts === undefined)
    log.warn('A sensor is used without a calibration: run `ergon meter calibrate`', {
      sensors: sources.map((source) => source.name),
    })
  return sources
}

/** The tariff of this moment, as sessions read it. */
function bodyOf(
  { name, config, routedTo }: { name: string; config: Config; routedTo: string },
  parts: {
    readonly meter: NodeMeter
    readonly carbon: Pick<NodeCarbon, 'current'>
    readonly gpu: GpuMeter | undefined
    readonly indirect: ReturnType<typeof createIndirectLearner>
    readonly bills: Pick<Bills, 'allowedNs' | 'seenAheadNs'>
  },
): TariffBody {
  const { meter, carbon, gpu, indirect, bills } = parts
  return {
    meter: name,
    method: meter.tariffKnown.method,
    band_pct: String(meter.tariffKnown.bandPct),
    nj_per_cpu_s: meter.tariffNjPerCpuS.toString(),
    pue_milli: config.pueMilli.toString(),
    routed_to: routedTo,
    factor: factorOf(carbon.current()),
    ...(gpu === undefined ? {} : { gpu: gpu.tariff() }),
    indirect: usableRates({
      ...indirect.rates(),
      allowedNs: bills.allowedNs(indirect.creditNs),
      seenAheadNs: bills.seenAheadNs(),
    }),
  }
}

type RefreshDeps = Omit<
  Parameters<typeof askGateways>[0] &
    Parameters<typeof askCaused>[0] &
    Parameters<typeof askUpkeep>[0],
  'signal'
> & { readonly gpu: GpuMeter | undefined }

const refreshOf =
  (deps: RefreshDeps): Meter['refresh'] =>
  async (signal) =>
    void (await Promise.all([
      askGateways({ ...deps, signal }),
      askCaused({ ...deps, signal }),
      askUpkeep({ ...deps, signal }),
      deps.gpu?.refresh(signal),
    ]))

const PPB = 1_000_000_000n

/** Estimates by the tariff and the model's idle power. */
function aheadOf(deps: {
  readonly reader: CellReader
  readonly model: Pick<CpuModel, 'cpus' | 'idleMilliwatts'>
  readonly pueMilli: bigint
  readonly tariff: Pick<NodeMeter, 'tariffNjPerCpuS'>
}): Meter['ahead'] {
  const { reader, model, pueMilli, tariff } = deps
  // A milliwatt is 1000 nJ in a millisecond.
  const idleNjPerMs = withPue(nj(model.idleMilliwatts * 1000n), pueMilli)
  return (cell) => {
    const elapsedMs = systemClock.monotonicMs() - reader.readMs
    const reservedNjPerMs = (idleNjPerMs * BigInt(reservedPpb(cell))) / PPB
    const perCpuS = tariff.tariffNjPerCpuS
    let usedNj: Nj | undefined
    return {
      elapsedMs,
      cpus: model.cpus,
      mostNjPerMs: (perCpuS * BigInt(model.cpus)) / 1000n + reservedNjPerMs,
      used: () =>
        (usedNj ??= add(
          energyOfCpu(reader.since(cell), perCpuS),
          nj(reservedNjPerMs * BigInt(Math.ceil(elapsedMs))),
        )),
    }
  }
}

/** Writes a tariff where the next requests would be billed differently by it. */
function createPublish(
  meter: string,
  body: () => TariffBody,
  revisionOfRates: () => number,
): Meter['publish'] {
  let published: string | undefined
  return async (state) => {
    const tariff = body()
    // Rates move at rest too, where nobody is billed by them: that is not worth a write each few seconds.
    const text = JSON.stringify({ ...tariff, indirect: revisionOfRates() })
    if (text === published) return
    const { gpu } = tariff
    // Rollups include the windows of a meter only if the meter has a row here.
    const meters = gpu === undefined ? [meter] : [meter, gpu.meter]
    const bodies = gpu === undefined ? [tariff] : [tariff, gpu]
    await state.query(
      `insert into tariffs (meter, body) select * from unnest($1::text[], $2::jsonb[])
       on conflict (meter) do update set body = excluded.body, at = now()`,
      [meters, bodies.map((one) => JSON.stringify(one))],
    )
    published = text
  }
}

/** CPU of the cells of these names. */
const cpuOf = ({ shares }: MeterWindow, names: ReadonlySet<string>): bigint =>
  shares.reduce((sum, { name, cpuNs }) => (names.has(name) ? sum + cpuNs : sum), 0n)

/**
 * Cells that work for requests: no cell that starts, as a model that is loaded, and none that an account pays for. The
 * ingress, the egress proxy and the process that stores logs work for cells of accounts, which pay by their own
 * measurement.
 */
export const answering = (cells: Pick<Cells, 'list'>): ReadonlySet<string> =>
  new Set(
    cells
      .list()
      .filter(
        ({ state, spec }) =>
          state === 'ready' && spec.payer.kind !== 'account' && spec.worksForCells !== true,
      )
      .map(({ spec }) => spec.name),
  )

/** Rates of indirect CPU that an earlier life published. Damaged ones are logged and left: they are learned anew. */
export async function readLearned(
  state: Pick<State, 'query'>,
  meter: string,
  log: Logger,
): Promise<IndirectRates | undefined> {
  const { rows } = await state.query<{ rates: unknown }>(
    `select body -> 'indirect' as rates from tariffs where meter = $1`,
    [meter],
  )
  const stored = rows[0]?.rates ?? undefined
  const rates = parseRates(stored)
  if (stored !== undefined && rates === undefined)
    log.warn('The stored rates of indirect CPU are damaged: they are learned anew', { meter })
  return rates
}
