// The section of the bench of databases: bars, tables and notes of what it found.
import { BOUNCER, DIRECT, FRONT, FRONT_PLAIN } from './databases-targets.ts'
import { median, type Bar, type Section, type Table } from './report.ts'

export type Size = {
  readonly rounds: number
  readonly seconds: number
  readonly scale: number
  readonly wakes: number
  readonly awake: number
  readonly vectors: number
}

export const CLIENTS = 8
export const DIMENSIONS = 384

/** The names of the loads. */
export const SELECTS = ['simple', 'extended', 'prepared'].map((mode) => `select-only, ${mode}`)
export const TPC_B = 'TPC-B'
export const CONNECT = 'a new connection for each query'
export const NEAREST = 'HNSW, the ten nearest'

/** CPU is that of the processes between client and server, for a round trip. */
export type Run = { readonly perSecond: number; readonly cpuUs: number }
/** The rounds of each target, by load and then by target. */
type Runs = ReadonlyMap<string, ReadonlyMap<string, readonly Run[]>>

export type Found = {
  readonly runs: Runs
  readonly builds: ReadonlyMap<string, readonly number[]>
  readonly wakesMs: readonly number[]
  /** Processes of a database that sleeps. */
  readonly left: number
  readonly memory: readonly { readonly mib: number; readonly all: number }[]
  readonly size: Size
}

export const sectionOf = (found: Found): Section => ({
  name: 'databases',
  title: 'Databases',
  bars: barsOf(found).filter(({ value }) => !Number.isNaN(value)),
  tables: tablesOf(found),
  notes: notesOf(found.size),
})

/** The median of the ratios within a round. */
function ratioOf(
  runs: ReadonlyMap<string, readonly Run[]> | undefined,
  over: string,
  under = DIRECT,
) {
  const base = runs?.get(under) ?? []
  const each = runs?.get(over) ?? []
  return median(each.map((run, round) => run.perSecond / (base[round]?.perSecond ?? Number.NaN)))
}

function barsOf({ runs, builds, wakesMs, left }: Found): Bar[] {
  const atLeast = (least: number, load: string, over = FRONT, under = DIRECT): Bar => ({
    what: `${load}: ${over} ÷ ${under}`,
    value: ratioOf(runs.get(load), over, under),
    least,
    digits: 2,
  })
  const built = (builds.get(DIRECT) ?? []).map(
    (took, round) => took / (builds.get(FRONT)?.[round] ?? Number.NaN),
  )
  return [
    ...SELECTS.map((name) => atLeast(0.6, name)),
    atLeast(1, SELECTS.at(-1) ?? '', FRONT, BOUNCER),
    atLeast(0.95, TPC_B),
    atLeast(8, CONNECT),
    atLeast(8, CONNECT, FRONT_PLAIN),
    { what: 'wake to the first row, p50', value: median(wakesMs), most: 150, unit: 'ms' },
    { what: 'processes of a database that sleeps', value: left, most: 0 },
    { what: `HNSW build: ${FRONT} ÷ ${DIRECT}`, value: median(built), least: 0.97, digits: 2 },
    atLeast(0.97, NEAREST),
  ]
}

const tablesOf = ({ runs, builds, wakesMs, memory, size }: Found): Table[] => [
  ...[...runs].map(([name, each]) => tableOf(name, each)),
  {
    caption: `HNSW build, ${size.vectors} vectors of ${DIMENSIONS}`,
    columns: ['through', 'seconds'],
    rows: [...builds].map(([name, took]) => [name, median(took).toFixed(2)]),
  },
  {
    caption: 'Wake to the first row',
    columns: ['wakes', 'p50 ms', 'p95 ms', 'slowest ms'],
    rows: [
      [
        String(wakesMs.length),
        ...[0.5, 0.95, 1].map((share) => percentile(wakesMs, share).toFixed(0)),
      ],
    ],
  },
  {
    caption: `${memory.length} databases awake, a session each`,
    columns: ['processes each', 'PSS MiB each', 'largest, MiB', 'together, MiB'],
    rows: [
      [
        median(memory.map((one) => one.all)).toFixed(0),
        median(memory.map(({ mib }) => mib)).toFixed(1),
        Math.max(...memory.map(({ mib }) => mib)).toFixed(1),
        memory.reduce((sum, { mib }) => sum + mib, 0).toFixed(0),
      ],
    ],
  },
]

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN

const tableOf = (caption: string, runs: ReadonlyMap<string, readonly Run[]>): Table => ({
  caption,
  columns: ['through', 'transactions/s', '÷ the server', 'CPU µs/round trip'],
  rows: [...runs].map(([name, each]) => [
    name,
    median(each.map(({ perSecond }) => perSecond)).toFixed(0),
    ratioOf(runs, name).toFixed(2),
    name === DIRECT ? '–' : median(each.map((run) => run.cpuUs)).toFixed(0),
  ]),
})

const notesOf = ({ rounds, seconds, scale }: Size): string[] => [
  `One database, ${CLIENTS} clients in a closed loop on one thread, ${rounds} rounds of ${seconds} s per target after an uncounted one, targets by turns; the median over the rounds. A ratio is the median of the ratios within a round. Load, proxies and server share the machine. pgbench (scale ${scale}) makes the load; CPU is that of the proxy for a round trip, read in steps of 10 ms.`,
  `Ergon and PgBouncer have TLS with the same certificate, SCRAM and session mode. “The server” is that of the same database on its unix socket, which asks for neither TLS nor a password. A connection for each query comes from a client of our own, which keeps the stretched password: libpq spends 5 ms of its own CPU there. Our proxy and PgBouncer keep backends for the next client; the server starts a process each.`,
]
