// The meter of this node, wired: sensors or the processor model, the cells' CPU, and the bills of the gateways.
import { systemClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { add, energyOfCpu, nj, withPue, type Nj } from '#base/units.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { TariffBody } from '#charging/tariff.ts'
import type { Config } from '#config/config.ts'
import { factorOf } from '#metering/carbon.ts'
import { createIndirectLearner } from '#metering/indirect.ts'
import type { IndirectRates } from '#contract/indirect-rates.ts'
import { parseRates } from '#contract/stored-rates.ts'
import { indirectStatus, type IndirectStatus } from '#metering/indirect-status.ts'
import { createNodeMeter, type NodeMeter } from '#metering/node-meter.ts'
import { createBusyReader } from '#metering/sources/busy.ts'
import type { CpuModel } from '#metering/sources/model.ts'
import type { MeterStatus } from '#metering/status.ts'
import type { MeterWindow } from '#metering/window.ts'
import type { State } from '#state/connect.ts'
import { createCalibrator, type Calibrator } from './calibrate.ts'
import { startCarbon, type NodeCarbon } from './carbon.ts'
import { askCaused, createCausedCpu } from './caused-cpu.ts'
import { createCellReader, reservedPpb, type CellReader } from './cells.ts'
import { openAsk } from '#node/cell-specs.ts'
import { askGateways, createBills } from './gateway-bills.ts'
import { openModel } from './model.ts'
import { openSensors } from './sources.ts'

export type Meter = {
  /** Reads the totals that the gateways have billed, and the payers that cells worked for; before each window. */
  refresh(signal: AbortSignal): Promise<void>
  /** Closes the window that began at the close before; one at a time. */
  closeWindow(signal?: AbortSignal): Promise<MeterWindow>
  /** Energy that a cell may have used since the last window, and uses at most: estimates, ahead of the next window. */
  ahead(cell: Cell): CellAhead
  /** When the cells were last read for a window, by the monotonic clock. */
  readMs(): number
  /** Writes the tariff that sessions bill at from now on, where it is another one than before. */
  publish(state: Pick<State, 'query'>): Promise<void>
  /** The status for `ergon meter`. */
  status(): MeterStatus & {
    readonly carbon: ReturnType<NodeCarbon['status']>
    readonly indirect: IndirectStatus
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
  log: Logger
}): Promise<Meter> {
  const { config, cells, name, routedTo, calibrationFile, log } = deps
  await using opened = new AsyncDisposableStack()
  const model = openModel(calibrationFile, log)
  const carbon = startCarbon(config)
  opened.defer(() => carbon.close())
  const busy = createBusyReader()
  opened.defer(() => busy.close())
  const bills = createBills()
  const indirect = createIndirectLearner(deps.learned)
  const caused = createCausedCpu()
  const asking = openAsk()
  opened.defer(() => asking.close())
  const sources = openSensors(config)
  // The idle power of a machine differs by ten times between sensors; the model guesses it.
  if (sources.length > 0 && model.linear && config.sensorIdleMilliwatts === undefined)
    log.warn('A sensor is used without a calibration: run `ergon meter calibrate`', {
      sensors: sources.map((source) => source.name),
    })
  const reader = createCellReader(cells, systemClock, caused)
  const meter = createNodeMeter({
    meter: name,
    model,
    sources,
    busyNs: () => busy.busyNs(),
    cells: reader.read,
    billed: () => bills.total(),
    pueMilli: config.pueMilli,
    clock: systemClock,
  })
  opened.defer(() => meter.close())
  const all = opened.move()

  const body = (): TariffBody => ({
    meter: name,
    method: meter.tariffKnown.method,
    band_pct: String(meter.tariffKnown.bandPct),
    nj_per_cpu_s: meter.tariffNjPerCpuS.toString(),
    pue_milli: config.pueMilli.toString(),
    routed_to: routedTo,
    factor: factorOf(carbon.current()),
    indirect: { ...indirect.rates(), allowedNs: bills.allowedNs(indirect.creditNs) },
  })
  return {
    refresh: refreshOf({ bills, caused, cells, ask: asking.ask, log }),
    async closeWindow(signal) {
      const window = await meter.closeWindow(signal)
      const cpuNs = cpuOf(window, answering(cells))
      indirect.observe({ ...window, cpuNs, activity: bills.activity() })
      return window
    },
    ahead: aheadOf({ reader, model, pueMilli: config.pueMilli, tariff: meter }),
    readMs: () => reader.readMs,
    publish: createPublish(name, body, () => indirect.revision),
    status: () => ({
      ...meter.status(),
      carbon: carbon.status(),
      indirect: indirectStatus(indirect),
    }),
    calibrate: createCalibrator({ config, calibrationFile }),
    close: () => all.disposeAsync(),
  }
}

type RefreshDeps = Omit<
  Parameters<typeof askGateways>[0] & Parameters<typeof askCaused>[0],
  'signal'
>

const refreshOf =
  (deps: RefreshDeps): Meter['refresh'] =>
  async (signal) =>
    void (await Promise.all([askGateways({ ...deps, signal }), askCaused({ ...deps, signal })]))

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
    await state.query(
      `insert into tariffs (meter, body) values ($1, $2)
       on conflict (meter) do update set body = excluded.body, at = now()`,
      [meter, JSON.stringify(tariff)],
    )
    published = text
  }
}

/** CPU of the cells of these names. */
const cpuOf = ({ shares }: MeterWindow, names: ReadonlySet<string>): bigint =>
  shares.reduce((sum, { name, cpuNs }) => (names.has(name) ? sum + cpuNs : sum), 0n)

/** Cells that work for requests: no cell that starts, as a model that is loaded, and none that an account pays for. */
const answering = (cells: Cells): ReadonlySet<string> =>
  new Set(
    cells
      .list()
      .filter(({ state, spec }) => state === 'ready' && spec.payer.kind !== 'account')
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
