// The page of the storage bench: its bars, and a table for each kind of request.
import { median, type Bar, type Section, type Table } from './report.ts'
import { CELLS, KIB, LISTED_KEYS, type Cell } from './storage-cells.ts'
import { billedBars, type BilledSpan } from './storage-energy.ts'
import type { StorageResult } from './storage-load.ts'
import { ERGON } from './storage-targets.ts'

export const ROUNDS = 3
/** Before its rounds a cell sends this many, or for so long: a server's code is compiled well by then. */
export const WARM_REQUESTS = 300
export const WARM_MS = 1500
/** Rounds of 20 pages took 20 ms: one tick of the product decided them. */
export const ROUND_MS = 500
/** Uploads that are half done at once. */
export const UPLOADS = 1000

export type Run = StorageResult & { readonly cpuMs: number }
export type Runs = ReadonlyMap<string, readonly Run[]>

export type Memory = {
  readonly name: string
  readonly restMib: number
  readonly halfwayMib: number
  readonly refused: number
}

export type Found = {
  readonly measured: ReadonlyMap<string, Runs>
  readonly billed: ReadonlyMap<string, BilledSpan>
  readonly memory: readonly Memory[]
  readonly large: ReadonlyMap<string, StorageResult>
  readonly njPerCpuS: number
  readonly missing: readonly string[]
  readonly idle: ReadonlyMap<string, number>
}

const rateOf = (run: Run): number => run.requests / run.seconds

function ratio(runs: Runs | undefined, over: string, under: string): number {
  const [a = [], b = []] = [runs?.get(over), runs?.get(under)]
  return median(a.flatMap((run, round) => (b[round] ? [rateOf(run) / rateOf(b[round])] : [])))
}

const PAGES_MS_MAX: Readonly<Record<string, number>> = {
  'a page of 1000 keys': 6,
  'a page of 1000 common prefixes': 10,
}

export function sectionOf(found: Found): Section {
  const { measured, billed, memory, large, njPerCpuS, missing, idle } = found
  const bars: Bar[] = CELLS.flatMap(({ name, bars: promised = {} }) =>
    Object.entries(promised).map(([peer, least]) => ({
      what: `${name}: ÷ ${peer}`,
      value: ratio(measured.get(name), ERGON, peer),
      least,
      digits: 2,
    })),
  )
  for (const [name, { p50Ms }] of large)
    bars.push({
      what: `1 M keys: ${name}`,
      value: p50Ms,
      most: PAGES_MS_MAX[name] ?? 0,
      digits: 1,
      unit: 'ms',
    })
  bars.push(...billedBars(billed))
  const figure = (value: number | undefined, digits: number) =>
    value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits)
  const table = (cell: Cell): Table => ({
    caption: `${cell.name}, ${cell.connections} ${cell.connections === 1 ? 'connection' : 'connections'}`,
    columns: [
      'target',
      'per s',
      'MB/s',
      '÷ minio',
      '÷ versitygw',
      'CPU ms each',
      'mJ each',
      'p50 ms',
      'p99 ms',
      '503',
    ],
    rows: [...(measured.get(cell.name) ?? [])].map(([name, runs]) => {
      const rate = median(runs.map(rateOf))
      const cpuMs = median(runs.map((run) => run.cpuMs))
      return [
        name,
        figure(rate, rate < 100 ? 1 : 0),
        figure(cell.bytes && (rate * cell.bytes) / 1e6, 0),
        figure(ratio(measured.get(cell.name), name, 'minio'), 2),
        figure(ratio(measured.get(cell.name), name, 'versitygw'), 2),
        figure(cpuMs, cpuMs < 10 ? 2 : 0),
        figure((cpuMs * njPerCpuS) / 1e9, 1),
        figure(median(runs.map((run) => run.p50Ms)), 1),
        figure(median(runs.map((run) => run.p99Ms)), 1),
        String(runs.reduce((sum, { refused }) => sum + refused, 0)),
      ]
    }),
  })
  return {
    name: 'storage',
    title: 'Object storage',
    bars,
    tables: [
      ...CELLS.map(table),
      {
        caption: 'Ergon: energy that is billed, of warm-up and rounds together',
        columns: ['request', 'J billed', 'J of the CPU of all processes', '± J', '%'],
        rows: [...billed].map(([name, { billedNj, usedNj, errorNj }]) => [
          name,
          figure(billedNj / 1e9, 2),
          figure(usedNj / 1e9, 2),
          figure(errorNj / 1e9, 2),
          figure((100 * billedNj) / usedNj, 1),
        ]),
      },
      {
        caption: `Memory (PSS of all processes) with ${UPLOADS} uploads of 1 MiB half done`,
        columns: ['target', 'before, MiB', 'half way, MiB', 'KiB for each', 'refused in the end'],
        rows: memory.map(({ name, restMib, halfwayMib, refused }) => [
          name,
          restMib.toFixed(0),
          halfwayMib.toFixed(0),
          (((halfwayMib - restMib) * KIB) / UPLOADS).toFixed(0),
          String(refused),
        ]),
      },
      {
        caption: 'Ergon: one connection, a bucket of a million keys',
        columns: ['request', 'p50 ms', 'p99 ms'],
        rows: [...large].map(([name, { p50Ms, p99Ms }]) => [
          name,
          p50Ms.toFixed(1),
          p99Ms.toFixed(1),
        ]),
      },
    ],
    notes: [
      `Closed loop, ${ROUNDS} rounds of about ${ROUND_MS} ms or more, targets by turns. Before them come ${LISTED_KEYS} puts and 3000 reads of each target, and ${WARM_REQUESTS} requests or ${WARM_MS} ms of the kind. A figure is the median over the rounds, a ratio the median of the ratios within a round. A 503 is sent again at once, and counted. Client and servers share the machine. CPU is that of all processes of a target, until it is at rest again, less what it takes idle (Ergon ${((idle.get(ERGON) ?? 0) * 100).toFixed(1)} % of a core: meter, ticks, heartbeats). mJ is that CPU at the tariff that the product bills at here, ${(njPerCpuS / 1e9).toFixed(2)} J per CPU-second, for every target alike.`,
      'Of the peers only minio syncs before it answers a PUT. Ergon syncs every body or commits it with its row, and charges every request: token, lease, journal, ledger, signed log are all in its figures.',
      ...(missing.length === 0
        ? []
        : [`Could not be installed here, and so is missing: ${missing.join(', ')}.`]),
    ],
  }
}
